#include <sentencepiece_trainer.h>

#include <cstdlib>
#include <fstream>

#include "base/error.h"
#include "base/files/file.h"
#include "scoring/corpus/corpus_score.h"
#include "scoring/metrics/bleu.h"
#include "scoring/tokenizers/tokenizers.h"
#include "support.h"

namespace nmt::scoring::flores_tokenizer_test {
namespace {

using nmt::test::message_of;

class SentencePieceTokenizerTest : public ::testing::Test {
 protected:
  SentencePieceTokenizerTest() {
    std::ofstream text(folder_ / "text");
    for (int i = 0; i < 50; ++i) text << "the cat sat on the mat " << i << "\na dog and a cat eat the fish\n";
    text.close();
    const auto status = sentencepiece::SentencePieceTrainer::Train(
        "--input=" + (folder_ / "text").string() + " --model_prefix=" + (folder_ / "spm").string() +
        " --vocab_size=40 --hard_vocab_limit=false --minloglevel=3");
    EXPECT_TRUE(status.ok()) << status.ToString();
    model_ = (folder_ / "spm.model").string();
  }

  nmt::test::TemporaryDirectory folder_;
  std::string model_;
};

TEST_F(SentencePieceTokenizerTest, SplitsIntoPieces) {
  const auto tokenizer = make_tokenizer("flores200", model_);
  const std::string tokens = tokenizer->tokenize("the cat");
  EXPECT_TRUE(tokens.starts_with("▁"));
  std::string joined;
  for (const char c : tokens) joined += c == ' ' ? "" : std::string(1, c);
  EXPECT_EQ(joined, "▁the▁cat");
  EXPECT_GT(tokens.size(), joined.size());
}

TEST_F(SentencePieceTokenizerTest, SignsAModelOfOnesOwnWithItsChecksum) {
  EXPECT_EQ(make_tokenizer("flores200", model_)->signature(), "flores200");
  EXPECT_EQ(make_tokenizer("spBLEU-1K", model_)->signature(), "spBLEU-1K");
  EXPECT_EQ(make_tokenizer("spm", model_)->signature(), "spm-" + sha256_of_file(model_).substr(0, 8));
}

TEST_F(SentencePieceTokenizerTest, FindsWhatSacrebleuHasDownloaded) {
  std::filesystem::create_directories(folder_ / "models");
  std::filesystem::copy(model_, folder_ / "models/sacrebleu_tokenizer_spm.model");
  setenv("SACREBLEU", folder_.path().c_str(), 1);
  EXPECT_EQ(make_tokenizer("flores101")->signature(), "flores101");
  EXPECT_EQ(make_tokenizer("spm")->signature(), "flores101");
  unsetenv("SACREBLEU");
}

TEST_F(SentencePieceTokenizerTest, RefusesAFileThatIsNoModel) {
  // The second has a piece that SentencePiece refuses by an exception.
  for (const auto& path :
       {folder_ / "text", nmt::test::source_directory() / "tests/fuzz/seeds/sentencepiece/zero_byte"})
    EXPECT_EQ(message_of<Error>([&] { make_tokenizer("flores200", path.string()); }),
              "tokenizer 'flores200': " + path.string() + " is not a SentencePiece model, or damaged");
}

TEST_F(SentencePieceTokenizerTest, ScoresPieces) {
  const Bleu bleu({.tokenizer = "spm", .sentencepiece_model = model_});
  const Score score = score_sentence(bleu, "the cat sat", std::vector<std::string>{"the cat sat"});
  EXPECT_NEAR(score.score, 100, 1e-9);
  EXPECT_GT(score.hypothesis_length, 3);
}

}  // namespace
}  // namespace nmt::scoring::flores_tokenizer_test
