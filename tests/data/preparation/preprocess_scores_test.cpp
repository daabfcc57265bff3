#include <gmock/gmock.h>

#include <functional>
#include <numeric>

#include "base/error.h"
#include "base/files/file.h"
#include "data/manifest.h"
#include "data/pair_scores.h"
#include "data/preparation/preprocess_fixture.h"
#include "data/prepared_data.h"
#include "data/synthetic_text.h"

namespace nmt::preprocess_scores_test {
namespace {

using test::message_of;
using testing::HasSubstr;
using testing::Not;

class PrepareScores : public test::PrepareFixture {
 protected:
  std::string log_of(const std::function<void()>& body) {
    log_.str("");
    body();
    return log_.str();
  }
};

// Each tenth pair has the target of another one.
TEST_F(PrepareScores, TheAlignerFindsPairsThatDoNotBelongTogether) {
  std::string english;
  for (int i = 0; i < 300; ++i) english += line("en", i % 10 == 5 ? (i * 7 + 111) % 300 : i) + "\n";
  write("train.en", english);
  config_.data.alignment = true;
  config_.data.keep_best = "aligner 0.9";
  EXPECT_THAT(log_of([&] { prepare(); }), HasSubstr("data.keep_best aligner 0.9: 27"));
  const auto data = open_prepared_data(config_);
  ASSERT_TRUE(data.selection.weights);
  int spoiled = 0;
  for (int i = 5; i < 300; i += 10) spoiled += (*data.selection.weights)[static_cast<size_t>(i)] == 0;
  EXPECT_GE(spoiled, 24) << "of 30 that are dropped";
  const auto hash = data.hash;
  config_.data.keep_best = "aligner 0.8";
  EXPECT_EQ(prepare().outcome, PrepareOutcome::kUpToDate) << "no data are other for it";
  EXPECT_EQ(open_prepared_data(config_).hash, hash);
  config_.data.keep_best = "";
  EXPECT_NE(open_prepared_data(config_).hash, hash);
}

TEST_F(PrepareScores, AreWaitedForByNmtPreproAndNeededByTraining) {
  config_.data.keep_best = "dual 0.5";
  EXPECT_THAT(log_of([&] { prepare(); }), HasSubstr("forward.scores: is not there; nmt-translate"));
  EXPECT_THAT(message_of<Error>([&] { open_prepared_data(config_); }), HasSubstr("forward.scores: is not there"));
  const auto train = *Manifest::read(config_.data.dir).find_split("train");
  for (const auto column : {PairScore::kForward, PairScore::kBackward}) {
    std::string text = score_header(train, "a test");
    for (int i = 0; i < 300; ++i) text += score_line(-0.01 * i);
    write_file_atomically(score_file(config_.data.dir, column), text);
  }
  EXPECT_THAT(log_of([&] { prepare(); }), HasSubstr("150 of 300 training pairs stay"));
  const auto weights = *open_prepared_data(config_).selection.weights;
  EXPECT_EQ(std::accumulate(weights.begin(), weights.begin() + 150, 0.0), 150) << "the first ones score best";
  config_.data.vocab_size = 140;
  EXPECT_EQ(overwrite().outcome, PrepareOutcome::kWritten) << "scores of nmt-translate are no foreign files";
}

TEST_F(PrepareScores, TextOfAModelIsNamedAsSuch) {
  std::string pairs;
  for (int i = 400; i < 420; ++i) pairs += "<BT> " + line("de", i) + "\t" + line("en", i) + "\n";
  write("bt.tsv", pairs);
  SyntheticText{.symbols = {"<BT>"}, .sha256 = sha256_of_bytes(pairs), .made = {{"seed", 7}}}.write(path("bt.tsv"));
  config_.data.train_tsv = {path("bt.tsv")};
  std::string table;
  const auto log = log_of([&] { table = prepare().table; });
  EXPECT_THAT(log, HasSubstr("bt.tsv: its source side was written by a model (bt.tsv.json)"));
  EXPECT_THAT(log, HasSubstr("data.user_symbols: lacks <BT>, which stands in"));
  EXPECT_THAT(table, HasSubstr("bt.tsv (synthetic source)"));
  const auto manifest = Manifest::read(config_.data.dir);
  ASSERT_EQ(manifest.synthetic.size(), 1U);
  EXPECT_EQ(manifest.synthetic[0]["made"]["seed"], 7);
  EXPECT_EQ(manifest.synthetic[0]["file"], path("bt.tsv"));

  config_.data.user_symbols = {"<BT>"};
  write("bt.tsv", pairs + "more\tmehr\n");
  const auto changed = log_of([&] { overwrite(); });
  EXPECT_THAT(changed, HasSubstr("is not what bt.tsv.json is of"));
  EXPECT_THAT(changed, Not(HasSubstr("lacks <BT>")));
}

}  // namespace
}  // namespace nmt::preprocess_scores_test
