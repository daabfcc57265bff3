#include "data/pair_scores.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "base/error.h"
#include "base/files/file.h"
#include "support.h"

namespace nmt::pair_scores_test {
namespace {

using test::message_of;
using testing::ElementsAre;
using testing::FloatNear;
using testing::HasSubstr;

class PairScoresTest : public testing::Test {
 protected:
  PairScoresTest() {
    config_.data.dir = folder_.path().string();
    manifest_.splits = {train_};
    manifest_.cleaning = {row("a.tsv", 3), row("b.tsv", 1), {.name = "valid", .is_training = false}};
  }
  static CleaningRow row(const std::string& name, int64_t kept) {
    CleaningRow row{.name = name};
    row.counts.verdicts[static_cast<size_t>(Verdict::kKept)] = kept;
    return row;
  }
  void write(PairScore column, const std::vector<double>& scores) const {
    std::string text = score_header(train_, "a test");
    for (const double score : scores) text += score_line(score);
    write_file_atomically(score_file(folder_.path(), column), text);
  }
  std::vector<float> read(PairScore score) const { return read_pair_scores(folder_.path(), train_, score); }
  std::string refusal() const {
    return message_of<Error>([this] { read(PairScore::kForward); });
  }
  PairSelection choose(const std::string& keep_best, PairScore weights = PairScore::kNone) {
    config_.data.keep_best = keep_best;
    config_.training.pair_weights = weights;
    return select_pairs(config_, manifest_);
  }

  test::TemporaryDirectory folder_;
  SplitRecord train_{.name = "train", .pairs = 4, .sha256 = std::string(64, 'a')};
  Manifest manifest_;
  Config config_;
};

TEST_F(PairScoresTest, AreReadAsTheyWereWritten) {
  write(PairScore::kForward, {-0.5, 0, -250, std::nan("")});
  EXPECT_THAT(read(PairScore::kForward), ElementsAre(-0.5F, 0, -100, -100));
}

// By hand: H of forward and backward are 1 and 2, 2 and 2, 3 and 0.5, 0 and 0.
TEST_F(PairScoresTest, TheDualScoreIsThatOfThePaper) {
  write(PairScore::kForward, {-1, -2, -3, 0});
  write(PairScore::kBackward, {-2, -2, -0.5, 0});
  const auto dual = read(PairScore::kDual);
  for (const auto& [pair, adequacy] :
       {std::pair(0, std::exp(-(1 + 1.5))), {1, std::exp(-2.0)}, {2, std::exp(-4.25)}, {3, 1.0}})
    EXPECT_NEAR(std::exp(dual[pair]), adequacy, 1e-6) << pair;
}

TEST_F(PairScoresTest, DamagedColumnsAreRefused) {
  EXPECT_THAT(refusal(), HasSubstr("forward.scores: is not there; nmt-translate -m MODEL --score-corpus"));
  EXPECT_THAT(message_of<Error>([this] { read(PairScore::kAligner); }), HasSubstr("data.alignment"));
  const auto path = score_file(folder_.path(), PairScore::kForward);
  write(PairScore::kForward, {-1, -1, -1, -1});
  const std::string whole = read_file(path);
  // Of the last line no more than its sign is left: a shorter number would be a number, too.
  for (size_t size = 0; size + score_line(-1).size() < whole.size() + 2; ++size) {
    write_file_atomically(path, whole.substr(0, size));
    EXPECT_THAT(refusal(), HasSubstr("make the scores again")) << size;
  }
  for (const char* line : {"x\n", "0.5\n", "-101\n", "nan\n", "-1 \n", "\n", "-1\n-1\n"}) {
    write_file_atomically(path, whole.substr(0, whole.size() - score_line(-1).size()) + line);
    EXPECT_THAT(refusal(), HasSubstr("make the scores again")) << line;
  }
  write(PairScore::kForward, {-1, -1, -1});
  EXPECT_THAT(refusal(), HasSubstr("3 scores for 4 pairs"));
  write(PairScore::kForward, {-1, -1, -1, -1});
  train_.sha256 = std::string(64, 'b');
  EXPECT_THAT(refusal(), HasSubstr("of another train.bin"));
}

TEST_F(PairScoresTest, AllThatAreMissingAreNamed) {
  write(PairScore::kBackward, {-1, -1, -1, -1});
  const auto missing = message_of<Error>([this] { choose("dual 0.5", PairScore::kAligner); });
  EXPECT_THAT(missing, HasSubstr("forward.scores: is not there; nmt-translate"));
  EXPECT_THAT(missing, HasSubstr("; " + score_file(folder_.path(), PairScore::kAligner).string() + ": is not there"));
  EXPECT_THAT(missing, testing::Not(HasSubstr("backward.scores")));
}

TEST_F(PairScoresTest, TheBestStay) {
  EXPECT_FALSE(choose("").weights);
  EXPECT_EQ(choose("").hash, "");
  write(PairScore::kForward, {-3, -1, -2, -2});
  EXPECT_THAT(*choose("forward 0.25").weights, ElementsAre(0, 1, 0, 0));
  EXPECT_THAT(*choose("forward 0.5").weights, ElementsAre(0, 1, 1, 1)) << "equal ones stay together";
  EXPECT_THAT(*choose("forward 1").weights, ElementsAre(1, 1, 1, 1));
  EXPECT_THAT(*choose("forward 0.001").weights, ElementsAre(0, 1, 0, 0)) << "one at least";
  EXPECT_THAT(choose("forward 0.5").summary, ElementsAre("data.keep_best forward 0.5: 3 of 4 training pairs stay, with "
                                                         "scores from -2.000",
                                                         "  a.tsv: 2 of 3 stay", "  b.tsv: 1 of 1 stay"));
  manifest_.cleaning = {row("a.tsv", 4)};
  EXPECT_THAT(choose("forward 0.5").summary, testing::SizeIs(1));
  const auto hash = choose("forward 0.5").hash;
  write(PairScore::kForward, {-3, -1, -2, -2.5});
  EXPECT_NE(choose("forward 0.5").hash, hash) << "a run must not resume with other scores";
}

TEST_F(PairScoresTest, WeightsAreOneOnAverageOfThoseThatStay) {
  const double half = std::log(0.5), fifth = std::log(0.2);
  write(PairScore::kBackward, {half, fifth, half, kWorstScore});
  const auto near = [](double value) { return FloatNear(static_cast<float>(value), 1e-5F); };
  EXPECT_THAT(*choose("", PairScore::kBackward).weights,
              ElementsAre(near(2 / 1.2), near(0.8 / 1.2), near(2 / 1.2), near(0)));
  EXPECT_THAT(*choose("backward 0.75", PairScore::kBackward).weights,
              ElementsAre(near(1.5 / 1.2), near(0.6 / 1.2), near(1.5 / 1.2), near(0)));
}

TEST(KeepBest, IsAScoreAndAShare) {
  const auto best = parse_keep_best("dual 0.7");
  ASSERT_TRUE(best);
  EXPECT_EQ(best->score, PairScore::kDual);
  EXPECT_EQ(best->share, 0.7);
  for (const char* text : {"", "dual", "dual ", "none 0.5", "best 0.5", "dual 0", "dual 1.5", "dual -1", "dual 0.5 ",
                           "dual  0.5", "dual nan", "0.5"})
    EXPECT_FALSE(parse_keep_best(text)) << text;
}

}  // namespace
}  // namespace nmt::pair_scores_test
