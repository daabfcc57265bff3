#include "translation/lines/source_parts.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "base/unicode.h"
#include "translation/lines/request.h"
#include "translation/word_tokenizer.h"

namespace nmt::source_parts_test {
namespace {

/// A piece for each byte, so that lengths are easy to see.
class ByteTokenizer : public Tokenizer {
 public:
  int64_t size() const override { return 260; }
  std::vector<int32_t> encode(std::string_view text) const override {
    std::vector<int32_t> ids;
    for (const unsigned char c : text) ids.push_back(c + 4);
    return ids;
  }
  std::string decode(std::span<const int32_t> ids) const override {
    std::string text;
    for (const int32_t id : ids) text += static_cast<char>(id - 4);
    return text;
  }
  std::string piece(int32_t id) const override { return std::string(1, static_cast<char>(id - 4)); }
};

std::vector<std::string> parts_of(std::string_view line, int64_t max_length, const std::string& prefix = "") {
  const auto tokenizer = std::make_shared<ByteTokenizer>();
  const TextCodec codec({.source_prefix = prefix}, tokenizer, tokenizer);
  std::vector<std::string> texts;
  const TextCodec* only = &codec;
  for (const auto& part : encode_in_parts(std::span(&only, 1), line, max_length))
    texts.push_back(tokenizer->decode(part.pieces.front()));
  return texts;
}

struct Case {
  std::string line;
  int64_t max_length;
  std::vector<std::string> parts;
};

TEST(EncodeInParts, PutsThePrefixBeforeEachPart) {
  EXPECT_THAT(parts_of("aaaa. bbbb.", 8, "p: "), testing::ElementsAre("p: aaaa.", "p: bbbb."));
  EXPECT_THAT(parts_of("aaaa. bbbb.", 14, "p: "), testing::ElementsAre("p: aaaa. bbbb."));
  EXPECT_THAT(parts_of("  ", 8, "p: "), testing::IsEmpty());
}

TEST(SourceParts, AreMadeWhereTheLineAllowsIt) {
  const std::vector<Case> cases = {
      {"", 5, {}},
      {" \t ", 5, {}},
      {"  one two ", 7, {"one two"}},                             // white space at the ends does not count
      {"one two", 6, {"one", "two"}},                             // at a space
      {"a bb ccccc", 6, {"a bb", "ccccc"}},                       // the one next to the middle
      {"one. two three four", 15, {"one.", "two three four"}},    // rather after a sentence
      {"a. bcdefgh ijklmnop", 15, {"a. bcdefgh", "ijklmnop"}},    // unless it ends too near to the border
      {"abcdefgh", 3, {"ab", "cd", "ef", "gh"}},                  // between characters
      {"\u00e4\u00e4\u00e4", 4, {"\u00e4", "\u00e4\u00e4"}},      // never inside of one
      {"\U0001F600\U0001F600", 4, {"\U0001F600", "\U0001F600"}},  // four bytes each
      {"a b c d", 1, {"a", "b", "c", "d"}},
      {"\U0001F600", 3, {"\xF0\x9F\x98"}},  // one character of more pieces than may be
  };
  for (const auto& [line, max_length, parts] : cases) EXPECT_EQ(parts_of(line, max_length), parts) << line;
}

TEST(SourceParts, LoseNothing) {
  std::string line;
  for (int i = 0; i < 3000; ++i) line += std::to_string(i * i) + (i % 17 == 0 ? ". " : " ");
  std::string joined;
  for (const auto& part : parts_of(line, 100)) {
    EXPECT_LE(part.size(), 100u);
    joined += part + " ";
  }
  EXPECT_EQ(joined, line);
}

TEST(SourceParts, TakeAnyBytes) {
  const auto parts = parts_of(std::string(1000, '\x80'), 100);
  size_t bytes = 0;
  for (const auto& part : parts) {
    EXPECT_LE(part.size(), 100u);
    bytes += part.size();
  }
  EXPECT_EQ(parts.size(), 1u) << "continuation bytes without a character cannot be told apart";
  EXPECT_EQ(bytes, 100u);
}

/// Knows how long the longest text was that it was given.
class WatchedTokenizer final : public ByteTokenizer {
 public:
  std::vector<int32_t> encode(std::string_view text) const override {
    longest = std::max(longest, text.size());
    return ByteTokenizer::encode(text);
  }
  mutable size_t longest = 0;
};

// Tokenizers take hundreds of bytes of memory for a character.
TEST(SourceParts, OfAVeryLongLineAreHalvedBeforeTheyAreEncoded) {
  const auto tokenizer = std::make_shared<WatchedTokenizer>();
  const TextCodec codec({}, tokenizer, tokenizer);
  const TextCodec* only = &codec;
  const std::string letters(3'000'000, 'x');
  std::string words, joined;
  while (words.size() < 3'000'000) words += words.empty() ? "ab" : " ab";
  size_t pieces = 0;
  for (const auto& part : encode_in_parts(std::span(&only, 1), letters, 1000)) {
    EXPECT_LE(part.pieces.front().size(), 1000u);
    pieces += part.pieces.front().size();
  }
  EXPECT_EQ(pieces, letters.size());
  for (const auto& part : encode_in_parts(std::span(&only, 1), words, 1000)) {
    if (!joined.empty()) joined += ' ';
    joined += tokenizer->decode(part.pieces.front());
  }
  EXPECT_EQ(joined, words);
  EXPECT_LE(tokenizer->longest, size_t{256} << 10);
}

TEST(SourceParts, EndWhenNobodyWaits) {
  const auto tokenizer = std::make_shared<ByteTokenizer>();
  const TextCodec codec({}, tokenizer, tokenizer);
  const TextCodec* only = &codec;
  const std::string line(3'000'000, 'x');
  for (const int after : {1, 5, 1000}) {
    int asked = 0;
    const auto stopped = [&] { return ++asked >= after; };
    EXPECT_THROW(encode_in_parts(std::span(&only, 1), line, 1000, stopped), TranslationStopped);
    EXPECT_EQ(asked, after);
  }
}

TEST(SourceParts, FitEveryCodec) {
  const auto bytes = std::make_shared<ByteTokenizer>();
  const auto words = std::make_shared<test::WordTokenizer>(std::vector<std::string>{"one", "two"});
  const TextCodec first({}, words, words), second({}, bytes, bytes);
  const std::vector<const TextCodec*> both = {&first, &second};
  const auto parts = encode_in_parts(both, "one two", 4);
  ASSERT_EQ(parts.size(), 2u) << "two words, but seven bytes";
  EXPECT_THAT(parts[1].pieces, testing::ElementsAre(words->encode("two"), bytes->encode("two")));
}

}  // namespace
}  // namespace nmt::source_parts_test
