#include "scoring/metrics/segment_scores.h"

#include <fstream>
#include <sstream>

#include "base/error.h"
#include "scoring/command/score_command.h"
#include "scoring/vectors.h"
#include "support.h"

namespace nmt::scoring::segment_scores_test {
namespace {

using namespace test;

// Figures: segment_metrics_golden.py.
constexpr const char* kFirst = "0.8123\n0.7411\n0.9034\n0.6512\n0.8801\n0.7903\n0.8450\n0.5127\n0.9312\n0.7004\n";
constexpr const char* kSecond = "0.8342\n0.7598\n0.8911\n0.7012\n0.9013\n0.8117\n0.8449\n0.6233\n0.9401\n0.7120\r\n";
constexpr const char* kLow = "-0.42\n0.11\n-1.05\n0.27\n-0.33\n-0.61\n2e-2\n-0.18\n-0.94\n0.05";

class SegmentScoresTest : public ::testing::Test {
 protected:
  std::string write(const std::string& name, const std::string& text) const {
    std::ofstream(folder_ / name, std::ios::binary) << text;
    return (folder_ / name).string();
  }

  /// The output without the folder, or the message.
  std::string run(std::vector<std::string> arguments) const {
    std::ostringstream out, messages;
    run_score_command(arguments, {.out = out, .messages = messages});
    std::string text = messages.str() + out.str();
    const std::string folder = folder_.path().string() + "/";
    for (size_t at = 0; (at = text.find(folder)) != text.npos;) text.erase(at, folder.size());
    return text;
  }

  std::string refused(const std::string& text) const { return run({"--segments", write("scores", text)}); }

  nmt::test::TemporaryDirectory folder_;
};

TEST_F(SegmentScoresTest, HaveAMeanAndAnInterval) {
  EXPECT_EQ(run({"--segments", write("first", kFirst), "-f", "text"}), "mean|version:2.6.0 = 0.7768\n");
  EXPECT_EQ(run({"--segments", write("first", kFirst), "-ci", "-f", "text", "-w", "6"}),
            "mean|bs:1000|seed:12345|version:2.6.0 = 0.776770 (μ = 0.776178 ± 0.071135)\n");
  EXPECT_EQ(run({"--segments", write("low", kLow), "-ci", "-f", "text", "-w", "5", "-b"}),
            "-0.30800 (μ = -0.31142 ± 0.26250)\n");
}

TEST_F(SegmentScoresTest, AreTestedInPairs) {
  const auto compared = [&](const std::string& first, const std::string& second, const char* test) {
    const auto scores = read_segment_scores(std::vector<std::string>{write("first", first), write("second", second)});
    const std::vector<std::shared_ptr<const Metric>> metrics = {std::make_shared<MeanScore>(scores.metric)};
    const auto kind =
        std::string(test) == "bs" ? PairedTestKind::kBootstrap : PairedTestKind::kApproximateRandomization;
    return paired_test(scores.systems, {scores.systems[0].hypotheses}, metrics, {.kind = kind}).columns[0].results;
  };
  const auto results = compared(kFirst, kSecond, "bs");
  EXPECT_NEAR(results[0].score, 0.77677, kPointTolerance);
  EXPECT_NEAR(*results[0].mean, 0.7761776, 1e-6);
  EXPECT_NEAR(results[1].score, 0.80196, kPointTolerance);
  EXPECT_NEAR(*results[1].half_width, 0.05593002, 1e-6);
  EXPECT_NEAR(*results[1].p_value, 0.015984015984015984, 1e-15);
  EXPECT_NEAR(*compared(kFirst, kSecond, "ar")[1].p_value, 0.0131986801319868, 1e-15);
  EXPECT_NEAR(*compared(kLow, kFirst, "ar")[1].p_value, 9.999000099990002e-05, 1e-15);
  EXPECT_NEAR(*compared(kLow, kFirst, "bs")[0].mean, -0.31141502, 1e-6);
  const auto table =
      run({"--segments", write("first", kFirst), write("second", kSecond), "--paired-bs", "-f", "latex"});
  EXPECT_NE(table.find("Baseline: first"), table.npos) << table;
  EXPECT_NE(table.find("0.8020 (0.8016 ± 0.0559) (p = 0.0160)*"), table.npos) << table;
}

TEST_F(SegmentScoresTest, AreReadFromWhatCometWrites) {
  const std::string printed =
      "a.en\tSegment 0\tscore: 0.8123\nb.en\tSegment 0\tscore: 0.9000\na.en\tSegment 1\tscore: 0.7877\n"
      "b.en\tSegment 1\tscore: -0.1000\na.en\tscore: 0.8000\nb.en\tscore: 0.4000\nPredictions saved in: x.json.\n";
  const std::string json =
      "{\n    \"a.en\": [\n        {\"src\": \"x\", \"mt\": \"ü\", \"ref\": \"y\", \"COMET\": 0.8123},\n"
      "        {\"src\": \"\", \"mt\": \"\", \"COMET\": 0.7877, \"errors\": [{\"start\": 0}]}\n    ],\n"
      "    \"b.en\": [{\"COMET\": 0.9}, {\"COMET\": -0.1}]\n}";
  for (const auto& text : {printed, json}) {
    const auto scores = read_segment_scores(std::vector<std::string>{write("comet", text)});
    EXPECT_EQ(scores.metric, "COMET");
    ASSERT_EQ(scores.systems.size(), 2u);
    EXPECT_EQ(scores.systems[1].name, "b.en");
    EXPECT_EQ(std::stod(scores.systems[1].hypotheses[1]), -0.1);
    const auto table = run({"--segments", write("comet", text), "-f", "text"});
    EXPECT_NE(table.find("│     a.en │ 0.8000"), table.npos) << table;
    EXPECT_NE(table.find("│     b.en │ 0.4000"), table.npos) << table;
  }
}

TEST_F(SegmentScoresTest, AreRefusedInOneLine) {
  EXPECT_EQ(refused("0.5\nx\n"), "nmt-score: scores:2: 'x' is no number; give one a line\n");
  EXPECT_EQ(refused("0.5\n\n"), "nmt-score: scores:2: '' is no number; give one a line\n");
  EXPECT_EQ(refused("nan\n"), "nmt-score: scores:1: 'nan' is no number; give one a line\n");
  EXPECT_EQ(refused(""), "nmt-score: scores: holds no scores\n");
  EXPECT_EQ(refused("{}"), "nmt-score: scores: holds no scores\n");
  EXPECT_EQ(refused("a\tb\n"), "nmt-score: scores:1: neither a number nor a line of comet-score\n");
  EXPECT_EQ(refused("{\"a\": 1}"), "nmt-score: scores: a: no list of segments\n");
  EXPECT_EQ(refused("{\"a\": [{\"COMET\": 1}, {}]}"), "nmt-score: scores: a: segment 2 has no number COMET\n");
  EXPECT_EQ(run({"--segments", write("a", "1\n2\n"), write("b", "1\n")}),
            "nmt-score: different numbers of segments: a has 2, b has 1; give the scores of one text\n");
  const auto twice = write("a", "1\n");
  EXPECT_EQ(run({"--segments", twice, twice}), "nmt-score: a:1: the system a was in a file before; name each once\n");
  const std::string why = "nmt-score: --segments: the scores are given; leave out texts and what is said of them\n";
  EXPECT_EQ(run({"reference", "--segments", twice}), why);
  EXPECT_EQ(run({"--segments", twice, "-m", "bleu"}), why);
}

}  // namespace
}  // namespace nmt::scoring::segment_scores_test
