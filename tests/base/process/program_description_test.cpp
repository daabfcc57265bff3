#include "base/process/program_description.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace nmt::program_description_test {
namespace {

TEST(ProgramDescription, IsWrittenWithItsPlaceAmongThePrograms) {
  const ProgramDescription program{
      .name = "nmt-train",
      .description = "Trains.",
      .usage = "[OPTIONS] FILE",
      .arguments = {{"FILE", "what is read"}},
      .options = {
          {.names = {"-c", "--config"}, .value = "FILE", .help = "it", .group = "Main", .several_times = true}}};
  const auto written = to_json(program);
  EXPECT_EQ(written["position"], 2);
  EXPECT_NE(written["summary"], "");
  EXPECT_EQ(written["arguments"][0]["help"], "what is read");
  EXPECT_EQ(written["options"][0]["names"], nlohmann::json({"-c", "--config"}));
  EXPECT_EQ(written["options"][0]["several_times"], true);
}

}  // namespace
}  // namespace nmt::program_description_test
