#include "base/process/program_description.h"

#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "base/error.h"

namespace nmt::program_description_test {
namespace {

using testing::ElementsAre;

TEST(ProgramDescription, IsReadAsItWasWritten) {
  const ProgramDescription written{
      .name = "nmt-x",
      .description = "Does x.",
      .usage = "[OPTIONS] FILE",
      .examples = "nmt-x a\nnmt-x b",
      .exit_status = "0: done.",
      .arguments = {{"FILE", "what is read"}},
      .options = {{.names = {"-c", "--config"}, .value = "FILE", .help = "it", .group = "Main", .several_times = true},
                  {.names = {"--form"},
                   .value = "NAME",
                   .choices = {"a", "b"},
                   .default_value = "a",
                   .environment = "FORM",
                   .several_values = true}},
      .environment = {{"SEED", "a number"}}};
  const auto read = read_program_description(to_json(written).dump());
  EXPECT_EQ(to_json(read), to_json(written));
  EXPECT_EQ(read.name, "nmt-x");
  EXPECT_EQ(read.arguments.front().help, "what is read");
  ASSERT_EQ(read.options.size(), 2U);
  EXPECT_THAT(read.options[0].names, ElementsAre("-c", "--config"));
  EXPECT_TRUE(read.options[0].several_times && !read.options[0].several_values);
  EXPECT_THAT(read.options[1].choices, ElementsAre("a", "b"));
  EXPECT_EQ(read.options[1].environment, "FORM");
  EXPECT_EQ(read.environment.front().name, "SEED");
}

TEST(ProgramDescription, WhatIsNoneIsRefused) {
  EXPECT_THROW(read_program_description("nmt-train: unknown option"), Error);
  EXPECT_THROW(read_program_description(R"({"name": "nmt-x"})"), Error);
}

}  // namespace
}  // namespace nmt::program_description_test
