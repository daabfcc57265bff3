#include "translation/lines/word_alignment.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>

#include "translation/word_tokenizer.h"

namespace nmt::word_alignment_test {
namespace {

using testing::ElementsAre;
using testing::FloatEq;
using testing::IsEmpty;

/// Pieces are letters and the full stop; a word begins at those with a mark before them: "_a b _c ." is "ab c.".
class LetterTokenizer final : public Tokenizer {
 public:
  int64_t size() const override { return 4 + 52 + 1; }
  std::vector<int32_t> encode(std::string_view text) const override {
    std::vector<int32_t> ids;
    bool begins = true;
    for (const char c : text) {
      if (c == '.')
        ids.push_back(56);
      else if (c != ' ')
        ids.push_back((begins ? 4 : 30) + c - 'a');
      begins = c == ' ';
    }
    return ids;
  }
  std::string decode(std::span<const int32_t> ids) const override {
    std::string text;
    for (const int32_t id : ids) {
      const auto own = piece(id);
      const bool begins = own.front() == '_';
      if (begins && !text.empty()) text += ' ';
      text += begins ? own.substr(1) : own;
    }
    return text;
  }
  std::string piece(int32_t id) const override {
    if (id < 4) return std::vector<std::string>{"<pad>", "<unk>", "<s>", "</s>"}[id];
    if (id == 56) return ".";
    return id < 30 ? std::string{'_', static_cast<char>('a' + id - 4)}
                   : std::string(1, static_cast<char>('a' + id - 30));
  }
};

TextCodec letter_codec(const std::string& prefix = "") {
  const auto both = std::make_shared<LetterTokenizer>();
  return {{.source_prefix = prefix}, both, both};
}

/// A translation of a line in one part.
Translation translation_of(const TextCodec& codec, const std::string& source, const std::vector<int32_t>& target,
                           std::vector<float> attention) {
  Translation translation;
  translation.text = codec.decode_target(target);
  translation.alternatives = {
      {.text = translation.text,
       .parts = {{.source = codec.encode_source(source), .target = target, .attention = std::move(attention)}}}};
  return translation;
}

/// The next part of the line.
void add_part(const TextCodec& codec, Translation& whole, const std::string& source, const std::vector<int32_t>& target,
              std::vector<float> attention) {
  const auto part = translation_of(codec, source, target, std::move(attention));
  whole.alternatives[0].parts.push_back(part.alternatives[0].parts[0]);
  whole.alternatives[0].text += " " + part.text;
  whole.text = whole.alternatives[0].text;
}

TEST(WordAttention, IsSummedOverSourcePiecesAndAveragedOverTargetPieces) {
  const TextCodec codec = letter_codec();
  // "ab c" -> "x yz" </s>; rows: _x, _y, z, </s>; columns: _a, b, _c.
  const auto translation = translation_of(codec, "ab c", codec.encode_target("x yz"),
                                          {0.1F, 0.2F, 0.6F, 0.5F, 0.3F, 0.1F, 0.1F, 0.1F, 0.4F, 0, 0, 1});
  const auto parts = word_attention(codec, "ab c", translation.alternatives[0]);
  ASSERT_EQ(parts.size(), 1u);
  EXPECT_THAT(parts[0].grid.keys, ElementsAre("ab", "c"));
  EXPECT_THAT(parts[0].grid.queries, ElementsAre("x", "yz"));
  EXPECT_THAT(parts[0].grid.weights, ElementsAre(FloatEq(0.3F), FloatEq(0.6F), FloatEq(0.5F), FloatEq(0.25F)));
  EXPECT_EQ(pharaoh_alignment(parts), "1-0 0-1");
  const auto bytes = aligned_words(parts, "ab c", "x yz");
  ASSERT_EQ(bytes.size(), 2u);
  EXPECT_EQ((std::array{bytes[0].source_begin, bytes[0].source_end, bytes[0].target_begin, bytes[0].target_end}),
            (std::array<size_t, 4>{3, 4, 0, 1}));
  EXPECT_EQ((std::array{bytes[1].source_begin, bytes[1].source_end, bytes[1].target_begin, bytes[1].target_end}),
            (std::array<size_t, 4>{0, 2, 2, 4}));
}

TEST(WordAttention, LeavesOutThePrefixOfEachPart) {
  const TextCodec codec = letter_codec("qq ");
  // Columns: _q, q and the words of the part.
  auto translation = translation_of(codec, "a b", codec.encode_target("x"), {0.7F, 0, 0.1F, 0.2F, 0, 0, 0, 0});
  add_part(codec, translation, "c d", codec.encode_target("y z"), {0, 0.9F, 0.1F, 0, 0.9F, 0, 0, 0.1F, 0, 0, 0, 0});
  const auto parts = word_attention(codec, "a b c d", translation.alternatives[0]);
  ASSERT_EQ(parts.size(), 2u);
  EXPECT_THAT(parts[0].grid.keys, ElementsAre("a", "b"));
  EXPECT_THAT(parts[0].grid.weights, ElementsAre(FloatEq(0.1F), FloatEq(0.2F)));
  EXPECT_THAT(parts[1].grid.keys, ElementsAre("c", "d"));
  EXPECT_EQ(pharaoh_alignment(parts), "0-0 1-0 2-1 3-2");
}

TEST(WordAttention, OfALineInPartsCountsTheWordsOfTheWholeLine) {
  const TextCodec codec = letter_codec();
  auto translation = translation_of(codec, "a b", codec.encode_target("x"), {0.2F, 0.8F, 0, 0});
  add_part(codec, translation, "c d", codec.encode_target("y z"), {0.9F, 0, 0, 0.9F, 0, 0});
  const auto parts = word_attention(codec, "a b c d", translation.alternatives[0]);
  ASSERT_EQ(parts.size(), 2u);
  EXPECT_THAT(parts[1].grid.keys, ElementsAre("c", "d"));
  EXPECT_THAT(parts[1].grid.queries, ElementsAre("y", "z"));
  EXPECT_EQ(pharaoh_alignment(parts), "0-0 1-0 2-1 3-2");
}

TEST(WordAttention, LeavesOutSignsAtAWord) {
  const TextCodec codec = letter_codec();
  // "a b." -> "x. y" </s>; columns: _a, _b, and the full stop; the signs look at each other.
  const auto translation =
      translation_of(codec, "a b.", codec.encode_target("x. y"), {0.6F, 0.1F, 0.3F, 0, 0, 1, 0, 0.7F, 0.3F, 0, 0, 1});
  const auto parts = word_attention(codec, "a b.", translation.alternatives[0]);
  ASSERT_EQ(parts.size(), 1u);
  EXPECT_THAT(parts[0].grid.weights, ElementsAre(FloatEq(0.6F), FloatEq(0.1F), FloatEq(0), FloatEq(0.7F)));
  EXPECT_EQ(pharaoh_alignment(parts), "0-0 1-1");
}

TEST(WordAttention, LinksWordsThatAreLeftOverWithWhatLooksAtThem) {
  const TextCodec codec = letter_codec();
  // "a b c" -> "x" </s>: b gets enough, c does not.
  const auto translation = translation_of(codec, "a b c", codec.encode_target("x"), {0.5F, 0.42F, 0.08F, 0, 0, 0});
  EXPECT_EQ(pharaoh_alignment(word_attention(codec, "a b c", translation.alternatives[0])), "0-0 1-0");
}

TEST(WordAttention, OfAnEmptyLineOrTranslationIsEmpty) {
  const TextCodec codec = letter_codec();
  EXPECT_THAT(word_attention(codec, "", Alternative()), IsEmpty());
  const auto empty = translation_of(codec, "a b", {}, {0.5F, 0.5F});
  EXPECT_THAT(word_attention(codec, "a b", empty.alternatives[0]), IsEmpty());
  EXPECT_EQ(pharaoh_alignment({}), "");
}

TEST(PieceAttention, HasTheEndOfWhatIsFinished) {
  const TextCodec codec = letter_codec();
  auto translation = translation_of(codec, "ab", codec.encode_target("x"), {0.25F, 0.75F, 0.5F, 0.5F});
  const auto grids = piece_attention(codec, translation.alternatives[0]);
  ASSERT_EQ(grids.size(), 1u);
  EXPECT_THAT(grids[0].keys, ElementsAre("_a", "b"));
  EXPECT_THAT(grids[0].queries, ElementsAre("_x", "</s>"));
  EXPECT_EQ(grids[0].weight(0, 0, 1), 0.75F);
  translation.alternatives[0].parts[0].finished = false;
  EXPECT_THAT(piece_attention(codec, translation.alternatives[0])[0].queries, ElementsAre("_x"));
}

TEST(CopyUnknownWords, TakesTheWordThatIsLookedAtMost) {
  const TextCodec codec = letter_codec();
  const std::vector<int32_t> ids = {4, SpecialIds::kUnknown, SpecialIds::kUnknown};
  // The single pieces of "bcd" are weak, together they are the strongest word.
  auto translation = translation_of(codec, "a bcd e", ids,
                                    {1, 0, 0, 0, 0, 0.2F, 0.2F, 0.2F, 0.2F, 0.3F, 0, 0, 0, 0.1F, 0.9F, 0, 0, 0, 0, 0});
  ASSERT_EQ(translation.text, "a<unk><unk>");
  copy_unknown_words(codec, "a bcd e", translation);
  EXPECT_EQ(translation.text, "abcde");
  EXPECT_EQ(translation.alternatives[0].text, "abcde");
}

TEST(CopyUnknownWords, WorksOnEachPartAndAlternative) {
  const TextCodec codec = test::word_codec({"a", "b"});
  auto translation = translation_of(codec, "a Anna", {SpecialIds::kUnknown}, {0.1F, 0.8F, 0, 0});
  add_part(codec, translation, "Berta b", {5, SpecialIds::kUnknown}, {0.1F, 0.8F, 0.7F, 0.2F, 0, 0});
  translation.alternatives.push_back(translation.alternatives[0]);
  copy_unknown_words(codec, "a Anna Berta b", translation);
  for (const auto& alternative : translation.alternatives) EXPECT_EQ(alternative.text, "Anna b Berta");
}

TEST(CopyUnknownWords, CopiesAWordThatLooksLikeOne) {
  const TextCodec codec = test::word_codec({"a", "b"});
  auto translation = translation_of(codec, "<unk>! Anna", {SpecialIds::kUnknown, SpecialIds::kUnknown},
                                    {0.9F, 0.1F, 0.1F, 0.9F, 0, 0});
  copy_unknown_words(codec, "<unk>! Anna", translation);
  EXPECT_EQ(translation.text, "<unk>! Anna");
}

TEST(CopyUnknownWords, LeavesOtherTextAlone) {
  const TextCodec codec = test::word_codec({"a", "b"});
  auto translation = translation_of(codec, "a Anna", {4, 5}, {0.1F, 0.8F, 0.7F, 0.2F, 0, 0});
  copy_unknown_words(codec, "a Anna", translation);
  EXPECT_EQ(translation.text, "a b");
}

}  // namespace
}  // namespace nmt::word_alignment_test
