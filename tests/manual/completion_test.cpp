#include "manual/completion.h"

#include <gmock/gmock.h>

#include <algorithm>

#include "manual/fish_completion.h"
#include "manual/zsh_completion.h"

namespace nmt::completion_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

OptionDescription option(std::string value, std::vector<std::string> choices = {}) {
  return {.names = {"--x"}, .value = std::move(value), .choices = std::move(choices)};
}

TEST(Completion, TheNameOfAValueSaysWhatItIs) {
  EXPECT_EQ(value_kind(option("")), ValueKind::kNone);
  EXPECT_EQ(value_kind(option("TEXT")), ValueKind::kText);
  EXPECT_EQ(value_kind(option("FILE")), ValueKind::kFile);
  EXPECT_EQ(value_kind(option("FILE...")), ValueKind::kFile);
  EXPECT_EQ(value_kind(option("DIR|FILE")), ValueKind::kFile);
  EXPECT_EQ(value_kind(option("CONFIG")), ValueKind::kFile);
  EXPECT_EQ(value_kind(option("DIR")), ValueKind::kFolder);
  EXPECT_EQ(value_kind(option("SECTION.KEY=VALUE")), ValueKind::kSetting);
  EXPECT_EQ(value_kind(option("NAME", {"a", "b"})), ValueKind::kWords);
}

TEST(Completion, SettingsAreTheOptionsOfTheConfiguration) {
  const auto all = settings();
  const auto find = [&](const std::string& key) {
    const auto found = std::ranges::find(all, key, &SettingChoice::key);
    return found == all.end() ? SettingChoice() : *found;
  };
  EXPECT_THAT(find("model.norm").words, ElementsAre("post", "pre"));
  EXPECT_THAT(find("data.lowercase").words, ElementsAre("true", "false"));
  EXPECT_THAT(find("training.lr").words, IsEmpty());
  EXPECT_FALSE(find("training.lr").is_text);
  EXPECT_TRUE(find("data.train1").is_text);
}

TEST(Completion, HelpIsCutAtItsFirstPause) {
  auto given = option("");
  given.help = "how it is; and more";
  EXPECT_EQ(short_help(given), "how it is");
  given.help = std::string(60, 'x') + " " + std::string(60, 'y');
  EXPECT_EQ(short_help(given), std::string(60, 'x') + " ...");
}

/// What the shells take for their own is escaped; tests/system/packages/completion_test.py runs the shells.
TEST(Completion, QuotesAreEscaped) {
  ProgramDescription program{.name = "nmt-train", .options = {option("FILE")}};
  program.options.front().help = "the user's [own]: file";
  EXPECT_THAT(zsh_completion({program}), HasSubstr(R"([the user'\''s \[own\]\: file]:FILE:_files')"));
  EXPECT_THAT(fish_completion(program), HasSubstr(R"(-d 'the user\'s [own]: file')"));
}

}  // namespace
}  // namespace nmt::completion_test
