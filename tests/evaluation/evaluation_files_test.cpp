#include "evaluation/evaluation_files.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "base/error.h"
#include "base/files/file.h"
#include "evaluation/evaluation.h"
#include "evaluation/small_set.h"
#include "support.h"

namespace nmt::evaluation_files_test {
namespace {

using test::message_of;
using test::small_output;
using test::small_set;

Evaluated evaluated(const std::string& name, std::vector<std::string> hypotheses) {
  Evaluated result{.output = small_output(name, std::move(hypotheses)), .scores = {}, .loss = {}, .report = {}};
  result.scores = score(result.output, small_set());
  result.report = report_of(result.output, result.scores);
  return result;
}

/// One system on a set of this name.
TestSetResults results_on(const std::string& name) {
  TestSetResults results{.test_set = small_set(), .systems = {evaluated("one", {"a b c a", "b b c d", "a a"})}};
  results.test_set.name = name;
  return results;
}

TEST(EvaluationFiles, OfOneSetAreNamedAsAsked) {
  const test::TemporaryDirectory folder;
  write_evaluation_files({.hypotheses = {folder / "hyp"}, .results = folder / "results", .report = folder / "report"},
                         {results_on("")}, {{"toolkit", "nmt"}});
  EXPECT_EQ(read_file(folder / "hyp"), "a b c a\nb b c d\na a\n");
  EXPECT_THAT(read_file(folder / "results"), testing::StartsWith("- source: a b c d\n"));
  const auto report = nlohmann::ordered_json::parse(read_file(folder / "report"));
  EXPECT_EQ(report["toolkit"], "nmt");
  EXPECT_EQ(report["test_set"]["sentences"], 3);
  EXPECT_EQ(report["systems"][0]["model"], "one");
  EXPECT_FALSE(report.contains("comparison"));
}

TEST(EvaluationFiles, OfSeveralSetsBearTheirNames) {
  const test::TemporaryDirectory folder;
  write_evaluation_files({.hypotheses = {folder / "hyp"}, .report = folder / "report"},
                         {results_on("tst2013"), results_on("tst2014")}, {});
  EXPECT_FALSE(std::filesystem::exists(folder / "hyp"));
  EXPECT_EQ(read_file(folder / "hyp.tst2014"), "a b c a\nb b c d\na a\n");
  const auto report = nlohmann::ordered_json::parse(read_file(folder / "report"));
  EXPECT_EQ(report["test_sets"].size(), 2u);
  EXPECT_EQ(report["test_sets"][1]["systems"][0]["model"], "one");
}

TEST(CheckEvaluationFiles, RefusesStandardOutputWhichHasTheScores) {
  const std::pair<EvaluationFiles, std::string> cases[] = {
      {{.hypotheses = {"-"}}, "--hypotheses-out"}, {{.results = "-"}, "--results-file"}, {{.report = "-"}, "--report"}};
  for (const auto& [files, option] : cases)
    EXPECT_EQ(message_of<Error>([&] { check_evaluation_files(files, {small_set()}, {}); }),
              option + " -: standard output has the scores; name a file");
}

TEST(CheckEvaluationFiles, MakesTheFolderOfAttention) {
  const test::TemporaryDirectory folder;
  const auto att = (folder / "att").string();
  auto named = small_set();
  named.name = "one";
  check_evaluation_files({.report = att + "/report.json", .attention = att}, {named}, {});
  EXPECT_TRUE(std::filesystem::is_empty(att + "/one"));
  write_file_atomically(folder / "file", "");
  EXPECT_THAT(
      message_of<Error>([&] { check_evaluation_files({.attention = (folder / "file").string()}, {small_set()}, {}); }),
      testing::HasSubstr("cannot make the folder"));
}

TEST(EvaluationFiles, NameTheMachine) {
  const auto report = machine_report("cpu");
  EXPECT_EQ(report["device"], "cpu");
  EXPECT_GT(report["threads"], 0);
}

TEST(EvaluationText, HasAScoreALine) {
  EXPECT_THAT(evaluation_text({results_on("")}, 2),
              testing::MatchesRegex("BLEU\\|[^\n]* = 73\\.34 [^\n]*\nchrF2\\|[^\n]* = [0-9.]+\n"));
}

TEST(EvaluationText, HasTheMeanOfSeveralLanguages) {
  auto results = std::vector{results_on("de-en"), results_on("en-de")};
  results[0].systems[0].scores[0].score = 70, results[1].systems[0].scores[0].score = 13;
  EXPECT_THAT(evaluation_text(results, 1), testing::Not(testing::HasSubstr("mean")));
  results[0].test_set.target_language = "en", results[1].test_set.target_language = "de";
  EXPECT_THAT(evaluation_text(results, 1), testing::HasSubstr("\nmean                 41.5  "));
}

TEST(EvaluationText, HasARowForEachSet) {
  auto results = std::vector{results_on("tst2013"), results_on("b")};
  EXPECT_THAT(evaluation_text(results, 1),
              testing::MatchesRegex("test set  sentences  BLEU  chrF2\ntst2013           3  73\\.3   [0-9.]+\n"
                                    "b                 3  73\\.3   [0-9.]+\nBLEU\\|nrefs:1[^\n]*\nchrF2\\|[^\n]*\n"));
  auto intervals = results;
  for (auto& result : intervals)
    for (auto& score : result.systems[0].scores)
      score.confidence = scoring::ConfidenceInterval{.mean = 73, .half_width = 4.25};
  EXPECT_THAT(evaluation_text(intervals, 1),
              testing::StartsWith("test set  sentences  BLEU          95 %  chrF2          95 %\n"
                                  "tst2013           3  73.3  73.0 +/- 4.2"));
  for (auto& result : results) result.systems[0].loss = TestLoss{.loss = std::log(5.0), .target_tokens = 10};
  EXPECT_THAT(evaluation_text(results, 2), testing::HasSubstr("  1.6094      5.0000\n"));
  for (auto& result : results)
    result.comparison = compare({result.systems[0].output, result.systems[0].output}, small_set());
  EXPECT_THAT(evaluation_text(results, 2),
              testing::AllOf(testing::StartsWith("tst2013:\n"), testing::HasSubstr("\nb:\n")));
}

TEST(EvaluationText, HasTheLossBehindTheScores) {
  auto results = results_on("");
  results.systems[0].loss = TestLoss{.loss = std::log(5.0), .target_tokens = 14058};
  EXPECT_THAT(evaluation_text({results}, 2),
              testing::EndsWith("\nloss = 1.6094, perplexity = 5.0000 (14,058 target tokens)\n"));
  results.systems.push_back(results.systems[0]);
  results.comparison = compare({results.systems[0].output, results.systems[1].output}, small_set());
  EXPECT_THAT(evaluation_text({results}, 6),
              testing::EndsWith("one: loss = 1.609438, perplexity = 5.000000 (14,058 target tokens)\n"));
}

}  // namespace
}  // namespace nmt::evaluation_files_test
