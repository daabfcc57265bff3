#include "data/preparation/piece_lines.h"

#include <gtest/gtest.h>

#include "base/error.h"
#include "support.h"
#include "text/sentencepiece/sentencepiece_tokenizer.h"
#include "text/sentencepiece/sentencepiece_trainer.h"
#include "text/training_lines.h"
#include "text/words.h"

namespace nmt::piece_lines_test {
namespace {

using test::message_of;

TextCodec words() {
  const std::string head = "<PAD>\t9\n<UNK>\t9\n<S>\t9\n</S>\t9\n";
  const auto make = [&](const std::string& rest) {
    return std::make_shared<const WordTokenizer>(head + rest, "test", WordLimits{});
  };
  return TextCodec({.lowercase = true}, make("der\t3\nhund\t2\n"), make("the\t3\ndog\t2\n"));
}

TEST(PieceLines, AreTheWordsOrIdsOfASide) {
  const PieceLines source(words(), TextSide::kSource, PieceForm::kPieces);
  EXPECT_EQ(source.encode("  Der  HUND bellt "), "der hund <UNK>") << "normalised as the model's input";
  EXPECT_EQ(source.encode(""), "");
  EXPECT_EQ(source.decode("der  hund"), "der hund");
  const PieceLines target(words(), TextSide::kTarget, PieceForm::kIds);
  EXPECT_EQ(target.encode("The dog barks"), "4 5 1");
  EXPECT_EQ(target.decode("2 4 5 3 0"), "the dog");
  EXPECT_EQ(target.decode(""), "");
}

TEST(PieceLines, ComeBackFromPieces) {
  const auto lines = test::training_lines();
  const auto bytes = train_sentencepiece(lines, {.vocab_size = 80, .character_coverage = 1.0});
  const auto tokenizer = std::make_shared<SentencePieceTokenizer>(*bytes, "test");
  const TextCodec codec({}, tokenizer, tokenizer);
  const PieceLines pieces(codec, TextSide::kSource, PieceForm::kPieces), ids(codec, TextSide::kSource, PieceForm::kIds);
  for (const auto& line : lines) {
    EXPECT_EQ(pieces.decode(pieces.encode(line)), line);
    EXPECT_EQ(ids.decode(ids.encode(line)), line);
  }
  EXPECT_EQ(pieces.encode(lines[0]).substr(0, 3), "\u2581");
}

// The byte of a line end would make two lines of one; nmt-translate writes a space, too.
TEST(PieceLines, OneLineGivesOneLine) {
  const auto bytes = train_sentencepiece(test::training_lines(), {.vocab_size = 350, .byte_fallback = true});
  const auto tokenizer = std::make_shared<SentencePieceTokenizer>(*bytes, "test");
  const PieceLines pieces({{}, tokenizer, tokenizer}, TextSide::kSource, PieceForm::kPieces);
  EXPECT_EQ(pieces.decode("\u2581 <0x41> <0x0A> <0x42> <0x0D> <0x00> <0x43>\r"), "A B  C");
  const PieceLines ids(words(), TextSide::kSource, PieceForm::kIds);
  EXPECT_EQ(ids.decode("4 5\r"), "der hund");
}

TEST(PieceLines, SayWhatIsNotInTheVocabulary) {
  const PieceLines pieces(words(), TextSide::kSource, PieceForm::kPieces);
  EXPECT_EQ(message_of<Error>([&] { pieces.decode("der the"); }),
            "'the' is no piece of the vocabulary; give pieces with spaces between");
  const PieceLines ids(words(), TextSide::kSource, PieceForm::kIds);
  for (const char* wrong : {"6", "-1", "4x", "der", "99999999999"})
    EXPECT_EQ(message_of<Error>([&] { ids.decode(std::string("4 ") + wrong); }),
              std::string("'") + wrong + "' is no id of the vocabulary; they are 0 to 5");
}

}  // namespace
}  // namespace nmt::piece_lines_test
