#include "text/codec/vocabulary_map.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "text/longest_pieces.h"
#include "text/words.h"

namespace nmt::vocabulary_map_test {
namespace {

using test::LongestPieces;
using testing::ElementsAre;
using testing::IsEmpty;

std::shared_ptr<const WordTokenizer> words(const std::vector<std::string>& words) {
  std::string vocabulary = "<PAD>\t9\n<UNK>\t9\n<S>\t9\n</S>\t9\n";
  for (const auto& word : words) vocabulary += word + "\t1\n";
  return std::make_shared<WordTokenizer>(vocabulary, "vocabulary", WordLimits());
}

/// The old pieces of a new piece, by their text.
std::vector<std::string> old_pieces(const Tokenizer& from, const std::string& piece,
                                    const Normalization& normalization = {}) {
  const auto map = map_vocabulary(from, normalization, LongestPieces({piece}));
  std::vector<std::string> found;
  for (const int32_t id : map.back()) found.push_back(from.piece(id));
  return found;
}

TEST(VocabularyMap, SpecialPiecesStandForThemselves) {
  const LongestPieces from({"\u2581a", "b"}), to({"b"});
  EXPECT_THAT(map_vocabulary(from, {}, to),
              ElementsAre(ElementsAre(0), ElementsAre(1), ElementsAre(2), ElementsAre(3), ElementsAre(5)));
}

TEST(VocabularyMap, APieceOfBothStandsForItself) {
  const LongestPieces from({"\u2581", "\u2581a", "\u2581ab", "b"});
  for (const char* piece : {"\u2581", "\u2581ab", "b"}) EXPECT_THAT(old_pieces(from, piece), ElementsAre(piece));
}

TEST(VocabularyMap, OldPiecesSpellANewOne) {
  const LongestPieces from({"\u2581", "\u2581ab", "ab", "b", "c", "\u2581ad", "d"});
  EXPECT_THAT(old_pieces(from, "\u2581abc"), ElementsAre("\u2581ab", "c"));
  EXPECT_THAT(old_pieces(from, "\u2581b"), ElementsAre("\u2581", "b"));
  EXPECT_THAT(old_pieces(from, "cb"), ElementsAre("c", "b")) << "no word begins with it";
  EXPECT_THAT(old_pieces(from, "abc"), ElementsAre("ab", "c")) << "in place of the piece that begins a word";
  EXPECT_THAT(old_pieces(from, "add"), ElementsAre("\u2581ad", "d")) << "there is no other";
  EXPECT_THAT(old_pieces(from, "\u2581c\u2581b"), ElementsAre("\u2581", "c", "\u2581", "b"));
}

TEST(VocabularyMap, WhatIsUnknownIsLeftOut) {
  const LongestPieces from({"\u2581", "\u2581a", "b"});
  EXPECT_THAT(old_pieces(from, "\u2581axb"), ElementsAre("\u2581a", "b"));
  EXPECT_THAT(old_pieces(from, "x"), IsEmpty());
  EXPECT_THAT(old_pieces(from, "\u2581x"), IsEmpty()) << "a space alone spells nothing";
}

TEST(VocabularyMap, OldTextsWereNormalised) {
  const LongestPieces from({"\u2581a", "b"});
  EXPECT_THAT(old_pieces(from, "\u2581AB"), IsEmpty());
  EXPECT_THAT(old_pieces(from, "\u2581AB", {.lowercase = true}), ElementsAre("\u2581a", "b"));
}

TEST(VocabularyMap, WordsAndPiecesSpellEachOther) {
  const auto from = words({"ab", "c"});
  EXPECT_THAT(map_vocabulary(*from, {}, *words({"c", "d"})),
              ElementsAre(ElementsAre(0), ElementsAre(1), ElementsAre(2), ElementsAre(3), ElementsAre(5), IsEmpty()));
  EXPECT_THAT(old_pieces(*from, "\u2581ab"), ElementsAre("ab"));
  const LongestPieces pieces({"\u2581a", "b", "a"});
  EXPECT_THAT(map_vocabulary(pieces, {}, *from).at(4), ElementsAre(4, 5)) << "a word begins with its first piece";
}

}  // namespace
}  // namespace nmt::vocabulary_map_test
