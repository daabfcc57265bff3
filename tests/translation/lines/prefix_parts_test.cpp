#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "translation/lines/source_parts.h"
#include "translation/word_tokenizer.h"

namespace nmt::prefix_parts_test {
namespace {

using testing::ElementsAre;
using Prefixes = std::vector<std::pair<std::string, bool>>;

/// parts: of the source. Each word is a piece.
Prefixes divide(const std::string& prefix, const std::vector<std::string>& parts) {
  const auto tokenizer = std::make_shared<test::WordTokenizer>(std::vector<std::string>{"a"});
  const TextCodec codec({.source_language = "de", .target_language = "en"}, tokenizer, tokenizer);
  std::vector<SourcePart> sources;
  for (const auto& part : parts) sources.push_back({.pieces = {codec.encode_source(part)}, .text = part});
  Prefixes result;
  for (const auto& [text, is_whole] : divide_prefix(prefix, sources, codec)) result.emplace_back(text, is_whole);
  return result;
}

const std::vector<std::string> kSentences = {"Ein Hund bellt.", "Dr. Meier kommt. Er lacht!", "Die Katze"};

TEST(DividePrefix, ALineInOnePartHasItAsItIs) {
  EXPECT_EQ(divide("A dog barks. And", {"Ein Hund bellt."}), (Prefixes{{"A dog barks. And", false}}));
  EXPECT_EQ(divide("", {}), Prefixes{});
}

TEST(DividePrefix, GoesOnSentenceBySentence) {
  EXPECT_EQ(divide("", kSentences), (Prefixes{{"", false}, {"", false}, {"", false}}));
  EXPECT_EQ(divide("A dog", kSentences), (Prefixes{{"A dog", false}, {"", false}, {"", false}}));
  EXPECT_EQ(divide("A dog barks.", kSentences), (Prefixes{{"A dog barks.", true}, {"", false}, {"", false}}));
  EXPECT_EQ(divide("A dog barks. Dr. Meier", kSentences),
            (Prefixes{{"A dog barks.", true}, {"Dr. Meier", false}, {"", false}}));
  EXPECT_EQ(divide("A dog barks. Dr. Meier comes. He", kSentences),
            (Prefixes{{"A dog barks.", true}, {"Dr. Meier comes. He", false}, {"", false}}));
  EXPECT_EQ(divide("A dog barks. Dr. Meier comes. He laughs!", kSentences),
            (Prefixes{{"A dog barks.", true}, {"Dr. Meier comes. He laughs!", true}, {"", false}}));
}

TEST(DividePrefix, TheLastPartHasWhateverIsLeft) {
  EXPECT_EQ(divide("A dog barks. He comes. He laughs! The cat. And. More.", kSentences),
            (Prefixes{{"A dog barks.", true}, {"He comes. He laughs!", true}, {"The cat. And. More.", false}}));
}

TEST(DividePrefix, ATitleEndsNoSentence) {
  EXPECT_EQ(divide("Dr.", {"Dr. Meier lacht.", "Er kommt."}), (Prefixes{{"Dr.", false}, {"", false}}));
}

TEST(DividePrefix, GoesByLengthWithinASentence) {
  EXPECT_EQ(divide("one two", {"ein und zwei", "und drei"}), (Prefixes{{"one two", false}, {"", false}}));
  EXPECT_EQ(divide("one and two", {"ein und zwei", "und drei"}), (Prefixes{{"one and two", false}, {"", false}}));
  EXPECT_EQ(divide("one and two and", {"ein und zwei", "und drei"}), (Prefixes{{"one and two", true}, {"and", false}}));
}

}  // namespace
}  // namespace nmt::prefix_parts_test
