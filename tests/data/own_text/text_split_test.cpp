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

class TextSplitTest : public testing::Test {
 protected:
  /// The text, a pair a line on each side.
  CorpusFiles write(const std::vector<std::pair<std::string, std::string>>& pairs) {
    std::ofstream source(folder_ / "all.de"), target(folder_ / "all.en");
    for (const auto& [de, en] : pairs) source << de << '\n', target << en << '\n';
    return {folder_ / "all.de", folder_ / "all.en", "--train", "--train"};
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

TEST_F(TextSplitTest, SurveysPairsWithText) {
  const auto survey = survey_text({write({{"a b", "c d e"}, {"", "x"}, {"ä", "f"}})}, kGermanEnglish);
  EXPECT_EQ(survey.pairs, 2);
  EXPECT_EQ(survey.source_characters, 4);
  EXPECT_EQ(survey.target_words, 4);
  EXPECT_EQ(survey.documents, 1);
}

TEST_F(TextSplitTest, HoldsOutAboutAsManyAsAskedFor) {
  const auto text = write(numbered(4000));
  const auto survey = survey_text({text}, kGermanEnglish);
  const auto counts = split_text(text, kGermanEnglish, survey, {.valid = 200, .test = 200}, folder_.path());
  EXPECT_NEAR(counts.pairs[1], 200, 60);
  EXPECT_NEAR(counts.pairs[2], 200, 60);
  EXPECT_EQ(counts.pairs[0] + counts.pairs[1] + counts.pairs[2], 4000);
  EXPECT_EQ(std::ssize(lines("train.de")), counts.pairs[0]);
  EXPECT_EQ(std::ssize(lines("valid.en")), counts.pairs[1]);
  EXPECT_EQ(std::ssize(lines("test.en")), counts.pairs[2]);
}

TEST_F(TextSplitTest, NoLineStandsOnBothSides) {
  auto pairs = numbered(3000);
  for (int i = 0; i < 3000; ++i) {
    if (i % 3 == 0) pairs[i].first = "Satz " + std::to_string(i / 9);
    if (i % 4 == 0) pairs[i].second = "sentence number " + std::to_string(i / 16);
  }
  const auto text = write(pairs);
  const auto counts = split_text(text, kGermanEnglish, survey_text({text}, kGermanEnglish), {.valid = 200, .test = 200},
                                 folder_.path());
  EXPECT_GT(counts.left_out, 0);
  for (const std::string side : {"de", "en"}) {
    const auto training = lines("train." + side);
    const std::set<std::string> known(training.begin(), training.end());
    for (const std::string part : {"valid.", "test."})
      for (const auto& line : lines(part + side)) EXPECT_FALSE(known.contains(line)) << line;
  }
}

TEST_F(TextSplitTest, KeepsDocumentsWhole) {
  std::vector<std::pair<std::string, std::string>> pairs;
  for (int document = 0; document < 100; ++document) {
    for (int i = 0; i < 10; ++i)
      pairs.emplace_back("Satz " + std::to_string(document) + "." + std::to_string(i),
                         "sentence " + std::to_string(document) + "." + std::to_string(i));
    pairs.emplace_back("", "");
  }
  const auto text = write(pairs);
  split_text(text, kGermanEnglish, survey_text({text}, kGermanEnglish), {.valid = 100, .test = 100}, folder_.path());
  for (const std::string part : {"train.de", "valid.de", "test.de"}) {
    std::map<std::string, int> sentences;
    for (const auto& line : lines(part)) ++sentences[line.substr(0, line.find('.'))];
    EXPECT_FALSE(sentences.empty()) << part;
    for (const auto& [document, count] : sentences) EXPECT_EQ(count, 10) << part << ": " << document;
  }
}

TEST_F(TextSplitTest, IsTheSameEachTime) {
  const auto text = write(numbered(1000));
  const auto survey = survey_text({text}, kGermanEnglish);
  split_text(text, kGermanEnglish, survey, {.valid = 100, .test = 0}, folder_.path());
  const auto first = lines("valid.de");
  split_text(text, kGermanEnglish, survey, {.valid = 100, .test = 0}, folder_.path());
  EXPECT_EQ(lines("valid.de"), first);
  EXPECT_FALSE(std::filesystem::exists(folder_ / "test.de"));
}

TEST(OwnConfigurationTest, FitsTheText) {
  const OwnPlan small = plan_training({.pairs = 5000, .target_words = 50'000});
  EXPECT_EQ(small.preset, "small_text");
  EXPECT_EQ(small.vocab_size, 2000);
  EXPECT_LT(3 * small.warmup_steps, small.updates) << "a rate that never leaves its warm-up learns nothing";
  EXPECT_EQ(plan_training({.pairs = 300'000, .target_words = 5'000'000}).preset, "medium_text");
  EXPECT_EQ(plan_training({.pairs = 3'000'000, .target_words = 60'000'000}).preset, "large_text");
}

TEST(OwnConfigurationTest, IsShortAndReadsBack) {
  const TextSurvey survey{.pairs = 5000, .target_words = 50'000};
  DataConfig data;
  data.dir = "mine/prepared", data.source_language = "cs";
  data.train1 = {"a: b.cs"}, data.train2 = {"a.en"};
  data.eval1 = "v.cs", data.eval2 = "v.en";
  const std::string yaml = own_configuration(data, "mine/run", survey, plan_training(survey));
  EXPECT_LE(std::ranges::count(yaml, '\n'), 20) << yaml;
  test::TemporaryDirectory folder;
  std::ofstream(folder / "mine.yaml") << yaml;
  const Config config = load_config(folder / "mine.yaml").config;
  EXPECT_THAT(config.data.train1, testing::ElementsAre("a: b.cs"));
  EXPECT_EQ(config.data.eval1, "v.cs");
  EXPECT_EQ(config.data.vocab_size, 2000);
  EXPECT_EQ(config.model.d_model, 256) << "that of the preset";
  EXPECT_EQ(config.run.dir, "mine/run");
}

}  // namespace
}  // namespace nmt::text_split_test
