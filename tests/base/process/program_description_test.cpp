#include "base/process/program_description.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "support.h"

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

TEST(CardNames, StandInTheListOfTheDriver) {
  const test::TemporaryDirectory folder;
  EXPECT_TRUE(card_names(folder / "none").empty());
  for (const char* card : {"0000:01:00.0", "0000:02:00.0"}) {
    std::filesystem::create_directory(folder / card);
    std::ofstream(folder / card / "information") << "Model: \t\t NVIDIA H200\nIRQ:   \t\t 131\n";
  }
  EXPECT_EQ(card_names(folder.path()), (std::vector<std::string>{"NVIDIA H200", "NVIDIA H200"}));
}

}  // namespace
}  // namespace nmt::program_description_test
