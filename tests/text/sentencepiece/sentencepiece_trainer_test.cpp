#include "text/sentencepiece/sentencepiece_trainer.h"

#include <gmock/gmock.h>
#include <sentencepiece_trainer.h>

#include <chrono>
#include <locale>

#include "base/error.h"
#include "base/files/file.h"
#include "support.h"
#include "text/sentencepiece/sentencepiece_tokenizer.h"
#include "text/training_lines.h"

namespace nmt::sentencepiece_trainer_test {
namespace {

using test::message_of;
using test::training_lines;
using testing::AnyOf;
using testing::HasSubstr;
using testing::MatchesRegex;

std::string message(const std::vector<std::string>& lines, const SentencePieceOptions& options) {
  return message_of<Error>([&] { train_sentencepiece(lines, options); });
}

TEST(TrainSentencePiece, IsAFunctionOfLinesAndOptions) {
  for (const std::string type : {"bpe", "unigram"}) {
    const SentencePieceOptions options{.type = type, .vocab_size = 100};
    const auto model = train_sentencepiece(training_lines(), options);
    EXPECT_EQ(model, train_sentencepiece(training_lines(), options)) << type;
    EXPECT_NE(model, train_sentencepiece(training_lines(400, 5), options)) << type;
  }
}

// The same model as SentencePiece makes of a text that is given to it directly, as S1's prepro does.
TEST(TrainSentencePiece, EqualsSentencePieceItself) {
  const auto lines = training_lines();
  const test::TemporaryDirectory folder;
  std::string text;
  for (const auto& line : lines) text += line + "\n";
  FILE* file = std::fopen((folder / "text").c_str(), "w");
  std::fputs(text.c_str(), file);
  std::fclose(file);
  testing::internal::CaptureStderr();
  const auto status = sentencepiece::SentencePieceTrainer::Train(
      "--input=" + (folder / "text").string() + " --model_prefix=" + (folder / "m").string() +
      " --vocab_size=110 --model_type=bpe --pad_id=0 --unk_id=1 --bos_id=2 --eos_id=3 --minloglevel=2");
  testing::internal::GetCapturedStderr();
  ASSERT_TRUE(status.ok()) << status.ToString();
  const auto theirs = SentencePieceTokenizer::load(folder / "m.model");
  const SentencePieceTokenizer ours(*train_sentencepiece(lines, {.vocab_size = 110}), "ours");
  ASSERT_EQ(ours.size(), theirs->size());
  for (int32_t id = 0; id < ours.size(); ++id) EXPECT_EQ(ours.piece(id), theirs->piece(id));
}

TEST(TrainSentencePiece, FollowsTheOptions) {
  const auto lines = training_lines();
  const SentencePieceTokenizer symbols(
      *train_sentencepiece(lines, {.vocab_size = 100, .user_symbols = {"<2en>", "a,b", "\"x\""}}), "m");
  EXPECT_EQ(symbols.piece(4), "<2en>");
  EXPECT_EQ(symbols.piece(5), "a,b");
  EXPECT_EQ(symbols.piece(6), "\"x\"");
  const auto ids = symbols.encode("der <2en> ein");
  EXPECT_EQ(std::count(ids.begin(), ids.end(), 4), 1);

  const SentencePieceTokenizer folded(*train_sentencepiece(lines, {.vocab_size = 100, .normalization = "nmt_nfkc_cf"}),
                                      "m");
  EXPECT_EQ(folded.decode(folded.encode("DER EIN")), "der ein");

  const SentencePieceTokenizer unigram(*train_sentencepiece(lines, {.type = "unigram", .vocab_size = 90}), "m");
  EXPECT_EQ(unigram.size(), 90);
}

// A program that uses the library may have set another: this one reads "0.9995" as 0.
TEST(TrainSentencePiece, DoesNotDependOnTheLocale) {
  struct Comma : std::numpunct<char> {
    char do_decimal_point() const override { return ','; }
  };
  const SentencePieceOptions options{.vocab_size = 100, .character_coverage = 0.9995};
  const auto expected = train_sentencepiece(test::training_lines(), options);
  const auto before = std::locale::global(std::locale(std::locale::classic(), new Comma));
  const auto found = train_sentencepiece(test::training_lines(), options);
  std::locale::global(before);
  EXPECT_EQ(found, expected);
}

TEST(TrainSentencePiece, FindsSymbolsWithSpaces) {
  for (const std::string type : {"bpe", "unigram"}) {
    const SentencePieceTokenizer tokenizer(
        *train_sentencepiece(training_lines(), {.type = type, .vocab_size = 100, .user_symbols = {"der haus ein"}}),
        "m");
    EXPECT_EQ(tokenizer.piece(4), "der\u2581haus\u2581ein");
    const auto ids = tokenizer.encode("ein der haus ein");
    EXPECT_EQ(std::count(ids.begin(), ids.end(), 4), 1) << type;
    EXPECT_EQ(tokenizer.decode(ids), "ein der haus ein");
  }
}

TEST(TrainSentencePiece, TurnsItsComplaintsIntoOneLine) {
  const auto lines = training_lines();
  EXPECT_THAT(message(lines, {.type = "unigram", .vocab_size = 5000}),
              MatchesRegex("data.vocab_size: 5000 is too large for the training text; at most [0-9]+ is possible"));
  EXPECT_THAT(message({"ab ab", "ac"}, {.vocab_size = 5000}),
              MatchesRegex("data.vocab_size: 5000 is too large for the training text; at most [0-9]+ is possible"));
  EXPECT_EQ(
      message(lines, {.vocab_size = 10, .character_coverage = 1}),
      "data.vocab_size: 10 is too small for the characters of the training text; at least 29 is needed, or a lower "
      "data.character_coverage");
  EXPECT_EQ(message({}, {}), "SentencePiece: the training text has no line to learn from; check the training files");
  EXPECT_THAT(message(lines, {.normalization = "unknown"}), HasSubstr("SentencePiece: "));
}

TEST(TrainSentencePiece, TheSizesItNamesArePossible) {
  const auto lines = training_lines();
  const auto number = [](const std::string& text, const std::string& before) {
    return std::stoll(text.substr(text.find(before) + before.size()));
  };
  for (const std::string type : {"bpe", "unigram"}) {
    const int64_t max = number(message(lines, {.type = type, .vocab_size = 20000}), "at most ");
    EXPECT_TRUE(train_sentencepiece(lines, {.type = type, .vocab_size = max}).has_value()) << type;
    EXPECT_THAT(message(lines, {.type = type, .vocab_size = max + 1}), HasSubstr("is too large")) << type;
  }
  EXPECT_TRUE(train_sentencepiece(lines, {.vocab_size = 29, .character_coverage = 1}).has_value());
}

TEST(TrainSentencePiece, PassesOverLinesItCannotTake) {
  auto lines = training_lines();
  const auto model = train_sentencepiece(lines, {.vocab_size = 100});
  lines.insert(lines.begin(), std::string(10001, 'z'));
  lines.push_back("reserved \u2585 mark");
  EXPECT_EQ(train_sentencepiece(lines, {.vocab_size = 100}), model);
  EXPECT_TRUE(sentencepiece_skips(lines.front()));
  EXPECT_TRUE(sentencepiece_skips(lines.back()));
  EXPECT_FALSE(sentencepiece_skips(std::string(10000, 'z')));
}

// A word of the greatest length, each character of which becomes eighteen: SentencePiece must not end the program.
TEST(TrainSentencePiece, SurvivesTheLongestWord) {
  std::string longest;
  while (longest.size() + 3 <= 10000) longest += "\uFDFA";
  for (const std::string type : {"bpe", "unigram"}) {
    auto lines = training_lines();
    lines.push_back(longest);
    EXPECT_TRUE(train_sentencepiece(lines, {.type = type, .vocab_size = 100}).has_value()) << type;
  }
}

TEST(TrainSentencePiece, IsSilent) {
  testing::internal::CaptureStderr();
  testing::internal::CaptureStdout();
  train_sentencepiece(training_lines(), {.vocab_size = 200});
  EXPECT_EQ(testing::internal::GetCapturedStdout(), "");
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
}

TEST(TrainSentencePiece, StopsAtOnceWhenAsked) {
  const auto lines = training_lines(100000);
  const auto begin = std::chrono::steady_clock::now();
  int asked = 0;
  EXPECT_EQ(train_sentencepiece(lines, {.type = "unigram", .vocab_size = 100}, [&] { return ++asked == 2; }),
            std::nullopt);
  EXPECT_EQ(asked, 2);
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(60));
}

}  // namespace
}  // namespace nmt::sentencepiece_trainer_test
