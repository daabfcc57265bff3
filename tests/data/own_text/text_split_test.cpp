#include "data/own_text/text_split.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "config/loading/schema.h"
#include "data/own_text/own_configuration.h"
#include "support.h"

namespace nmt::text_split_test {
namespace {

std::vector<std::string> read_lines(const std::filesystem::path& path) {
  std::ifstream file(path);
  std::vector<std::string> lines;
  for (std::string line; std::getline(file, line);) lines.push_back(line);
  return lines;
}

const ReadingOptions kGermanEnglish{.source_language = "de", .target_language = "en"};

class OwnTextTest : public testing::Test {
 protected:
  /// The text, a pair a line on each side.
  OwnText text_of(const std::vector<std::pair<std::string, std::string>>& pairs) {
    std::ofstream source(folder_ / "all.de"), target(folder_ / "all.en");
    for (const auto& [de, en] : pairs) source << de << '\n', target << en << '\n';
    source.close(), target.close();
    return OwnText({folder_ / "all.de", folder_ / "all.en", "--train", "--train"}, kGermanEnglish);
  }
  std::vector<std::string> lines(const std::string& name) { return read_lines(folder_ / name); }

  test::TemporaryDirectory folder_;
};

std::vector<std::pair<std::string, std::string>> numbered(int count) {
  std::vector<std::pair<std::string, std::string>> pairs;
  for (int i = 0; i < count; ++i)
    pairs.emplace_back("Satz " + std::to_string(i), "sentence number " + std::to_string(i));
  return pairs;
}

TEST_F(OwnTextTest, SurveysPairsWithText) {
  const OwnText text = text_of({{"a b", "c d e"}, {"", "x"}, {"ä", "fü"}});
  EXPECT_EQ(text.survey().pairs, 2);
  EXPECT_EQ(text.survey().target_words, 4);
  EXPECT_EQ(text.survey().target_characters, 7);
  EXPECT_EQ(text.survey().documents, 1);
}

TEST_F(OwnTextTest, HoldsOutAboutAsManyAsAskedFor) {
  const OwnText text = text_of(numbered(4000));
  const PartSizes sizes = text.split({.valid = 200, .test = 200}, folder_.path());
  EXPECT_NEAR(sizes[1], 200, 60);
  EXPECT_NEAR(sizes[2], 200, 60);
  EXPECT_EQ(sizes[0] + sizes[1] + sizes[2], 4000);
  EXPECT_EQ(std::ssize(lines("train.de")), sizes[0]);
  EXPECT_EQ(std::ssize(lines("valid.en")), sizes[1]);
  EXPECT_EQ(std::ssize(lines("test.en")), sizes[2]);
}

TEST_F(OwnTextTest, NoLineStandsOnBothSidesOfTheSplit) {
  auto pairs = numbered(3000);
  for (int i = 0; i < 3000; ++i) {
    if (i % 3 == 0) pairs[i].first = "Satz " + std::to_string(i / 9);
    if (i % 4 == 0) pairs[i].second = "sentence number " + std::to_string(i / 16);
    if (i % 7 == 0) pairs[i].second = pairs[i].first;
  }
  const PartSizes sizes = text_of(pairs).split({.valid = 200, .test = 200}, folder_.path());
  EXPECT_EQ(sizes[0] + sizes[1] + sizes[2], 3000) << "nothing is lost";
  std::map<std::string, std::set<std::string>> parts_of_line;
  for (const std::string part : {"train", "valid", "test"})
    for (const std::string side : {".de", ".en"})
      for (const auto& line : lines(part + side)) parts_of_line[line].insert(part);
  for (const auto& [line, parts] : parts_of_line) EXPECT_EQ(parts.size(), 1u) << line;
  EXPECT_NEAR(sizes[1], 200, 60) << "what is repeated is not counted";
}

TEST_F(OwnTextTest, DrawsWholeDocuments) {
  std::vector<std::pair<std::string, std::string>> pairs;
  for (int document = 0; document < 100; ++document) {
    for (int i = 0; i < 10; ++i)
      pairs.emplace_back("Satz " + std::to_string(document) + "." + std::to_string(i),
                         "sentence " + std::to_string(document) + "." + std::to_string(i));
    pairs.emplace_back("", "");
  }
  text_of(pairs).split({.valid = 100, .test = 100}, folder_.path());
  for (const std::string part : {"train.de", "valid.de", "test.de"}) {
    std::map<std::string, int> sentences;
    for (const auto& line : lines(part)) ++sentences[line.substr(0, line.find('.'))];
    EXPECT_FALSE(sentences.empty()) << part;
    for (const auto& [document, count] : sentences) EXPECT_EQ(count, 10) << part << ": " << document;
  }
}

TEST_F(OwnTextTest, IsDividedTheSameEachTime) {
  const OwnText text = text_of(numbered(1000));
  text.split({.valid = 100, .test = 0}, folder_.path());
  const auto first = lines("valid.de");
  text.split({.valid = 100, .test = 0}, folder_.path());
  EXPECT_EQ(lines("valid.de"), first);
  EXPECT_FALSE(std::filesystem::exists(folder_ / "test.de"));
}

TEST_F(OwnTextTest, RefusesWhatItCannotDivide) {
  auto pairs = numbered(600);
  for (auto& [source, target] : pairs) target = "always the same";
  const OwnText text = text_of(pairs);
  EXPECT_EQ(
      test::message_of<Error>([&] { text.split({.valid = 100, .test = 100}, folder_.path()); }),
      "--train " + (folder_ / "all.de").string() +
          ": only 0 pairs have sides that stand in the text once, too few to hold out 200; give --valid and --test");
  EXPECT_EQ(
      test::message_of<Error>([&] {
        OwnText({folder_.path(), folder_ / "all.en", "--train", "--train"}, kGermanEnglish);
      }),
      "--train " + folder_.path().string() + ": no regular file; it is read several times, so save the text in one");
}

TEST(OwnPlan, FitsTheText) {
  const OwnPlan small = plan_training({.pairs = 5000, .target_words = 50'000, .target_characters = 300'000});
  EXPECT_EQ(small.preset, "small_text");
  EXPECT_EQ(small.vocab_size, 2000);
  EXPECT_LT(5 * small.warmup_steps, small.num_epochs * small.updates_per_epoch)
      << "a rate that never leaves its warm-up learns nothing";
  EXPECT_EQ(plan_training({.pairs = 300'000, .target_words = 5'000'000}).preset, "medium_text");
  EXPECT_EQ(plan_training({.pairs = 3'000'000, .target_words = 60'000'000}).preset, "large_text");
  const OwnPlan spaceless = plan_training({.pairs = 5000, .target_words = 5000, .target_characters = 120'000});
  EXPECT_NEAR(static_cast<double>(spaceless.updates_per_epoch), static_cast<double>(small.updates_per_epoch), 5)
      << "without spaces characters tell the length";
}

TEST(OwnConfiguration, IsShortAndReadsBack) {
  const TextSurvey survey{.pairs = 5000, .target_words = 50'000};
  DataConfig data;
  data.dir = "mine/prepared", data.source_language = "cs";
  data.train1 = {"a: b.cs"}, data.train2 = {"a.en"};
  data.eval1 = "v.cs", data.eval2 = "v.en", data.test1 = "t.cs", data.test2 = "t.en";
  const std::string yaml = own_configuration(data, "mine/run", survey, plan_training(survey));
  EXPECT_LE(std::ranges::count(yaml, '\n'), 20) << yaml;
  EXPECT_THAT(yaml, testing::HasSubstr("target_language: en")) << "said, though it is a default";
  test::TemporaryDirectory folder;
  std::ofstream(folder / "mine.yaml") << yaml;
  const Config config = load_config(folder / "mine.yaml").config;
  EXPECT_THAT(config.data.train1, testing::ElementsAre("a: b.cs"));
  EXPECT_EQ(config.data.eval1, "v.cs");
  EXPECT_EQ(config.data.vocab_size, 2000);
  EXPECT_EQ(config.model.positions.name(), "rotary") << "that of the preset";
  EXPECT_EQ(config.run.dir, "mine/run");
}

}  // namespace
}  // namespace nmt::text_split_test
