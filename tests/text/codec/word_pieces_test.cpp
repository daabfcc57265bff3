#include "text/codec/word_pieces.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/random.h"
#include "base/unicode.h"
#include "text/sentencepiece/sentencepiece_tokenizer.h"
#include "text/sentencepiece/sentencepiece_trainer.h"
#include "text/training_lines.h"
#include "text/words.h"

namespace nmt::word_pieces_test {
namespace {

using test::training_lines;
using testing::ElementsAre;
using testing::IsEmpty;

TextCodec piece_codec() {
  static const auto both =
      std::make_shared<SentencePieceTokenizer>(*train_sentencepiece(training_lines(400, 1), {.vocab_size = 100}), "m");
  return {{}, both, both};
}

TextCodec word_codec() {
  const auto both = std::make_shared<WordTokenizer>("<PAD>\t0\n<UNK>\t0\n<S>\t0\n</S>\t0\na\t9\nb\t9\n", "words",
                                                    WordLimits{.min_count = 1, .max_size = 100});
  return {{}, both, both};
}

/// The pieces of one word.
std::vector<int32_t> pieces_of(const WordPieces& words, const std::vector<int32_t>& ids, size_t word) {
  std::vector<int32_t> pieces;
  for (size_t i = 0; i < ids.size(); ++i) {
    if (words.word_of_piece[i] == static_cast<int64_t>(word)) pieces.push_back(ids[i]);
  }
  return pieces;
}

TEST(SourceWords, HaveThePiecesThatTheyHaveAlone) {
  const TextCodec codec = piece_codec();
  for (const auto& line : training_lines(50, 3)) {
    const auto ids = codec.encode_source("  " + line + " ");
    const auto words = source_words(codec, "  " + line + " ", ids);
    ASSERT_EQ(words.word_of_piece.size(), ids.size());
    for (size_t word = 0; word < words.words.size(); ++word) {
      EXPECT_EQ(pieces_of(words, ids, word), codec.encode_source(words.words[word])) << line;
    }
  }
}

TEST(SourceWords, AreThoseOfTheRawTextWhereItsNormalFormHasOtherSpaces) {
  const TextCodec codec = piece_codec();
  const std::string line = "der\u00b4ein haus";  // NFKC makes a space and an accent of U+00B4
  const auto ids = codec.encode_source(line);
  const auto words = source_words(codec, line, ids);
  EXPECT_THAT(words.words, ElementsAre("der\u00b4ein", "haus"));
  EXPECT_EQ(pieces_of(words, ids, 1), codec.encode_source("haus"));
}

TEST(SourceWords, AreCountedWhereTheIdsAreNotThoseOfTheWords) {
  const TextCodec codec = piece_codec();
  auto ids = codec.encode_source("der haus ein");
  ids.resize(ids.size() - 1);  // cut
  const auto words = source_words(codec, "der haus ein", ids);
  EXPECT_EQ(pieces_of(words, ids, 0), codec.encode_source("der"));
  EXPECT_EQ(pieces_of(words, ids, 1), codec.encode_source("haus"));
}

TEST(SourceWords, OfNothing) {
  const auto words = source_words(piece_codec(), " ", {});
  EXPECT_THAT(words.words, IsEmpty());
  EXPECT_THAT(words.word_of_piece, IsEmpty());
}

TEST(TargetWords, HaveThePiecesThatDecodeToThem) {
  const TextCodec codec = piece_codec();
  for (const auto& line : training_lines(50, 4)) {
    const auto ids = codec.encode_target(line);
    const auto words = target_words(codec, ids);
    for (size_t word = 0; word < words.words.size(); ++word) {
      const auto text = codec.decode_target(pieces_of(words, ids, word));
      EXPECT_EQ(strip(text), words.words[word]) << line;
    }
  }
}

TEST(TargetWords, TakePiecesInAnyOrder) {  // as a weak model writes them
  const TextCodec codec = piece_codec();
  CounterRandom random({5});
  for (int round = 0; round < 300; ++round) {
    std::vector<int32_t> ids(1 + random.below(12));
    for (auto& id : ids) id = static_cast<int32_t>(random.below(100));
    const auto words = target_words(codec, ids);
    ASSERT_EQ(words.word_of_piece.size(), ids.size());
    EXPECT_TRUE(std::ranges::is_sorted(words.word_of_piece));
    if (words.words.empty()) continue;
    EXPECT_LT(words.word_of_piece.back(), std::ssize(words.words));
    // A piece with letters is in the last word of what is decoded up to it.
    for (size_t i = 0; i < ids.size(); ++i) {
      if (strip(codec.decode_target(std::span(ids).subspan(i, 1))).empty()) continue;
      std::vector<std::string_view> before;
      const auto text = codec.decode_target(std::span(ids).first(i + 1));
      split_words(text, before);
      EXPECT_EQ(words.word_of_piece[i], std::ssize(before) - 1) << i << " of " << text;
    }
  }
}

TEST(TargetWords, OfAWordVocabularyAreItsEntries) {
  const TextCodec codec = word_codec();
  const auto words = target_words(codec, std::vector<int32_t>{4, SpecialIds::kUnknown, 5, 5});
  EXPECT_THAT(words.words, ElementsAre("a", "<UNK>", "b", "b"));
  EXPECT_THAT(words.word_of_piece, ElementsAre(0, 1, 2, 3));
}

}  // namespace
}  // namespace nmt::word_pieces_test
