#include <unicode/utf8.h>

#include <string>
#include <string_view>

#include "base/unicode.h"
#include "support.h"

namespace nmt::code_points_test {
namespace {

using namespace std::string_literals;

TEST(Words, SpaceLengthAgreesWithPythonsWhiteSpaceOnEveryCodePoint) {
  int64_t spaces = 0;
  for (char32_t c = 0; c < 0x110000; ++c) {
    if (c >= 0xD800 && c <= 0xDFFF) continue;
    const std::string text = to_utf8(std::u32string(1, c));
    const size_t expected = is_python_space(c) ? text.size() : 0;
    ASSERT_EQ(space_length(text, 0), expected) << "U+" << std::hex << static_cast<uint32_t>(c);
    spaces += expected > 0;
  }
  EXPECT_EQ(spaces, 29);
  EXPECT_EQ(space_length("", 0), 0u);
  EXPECT_EQ(space_length("\xE2\x80", 0), 0u);  // cut off
}

TEST(CodePoints, NextReadsEveryCodePoint) {
  for (char32_t c = 0; c < 0x110000; ++c) {
    if (c >= 0xD800 && c <= 0xDFFF) continue;
    const std::string text = to_utf8(std::u32string(1, c));
    size_t i = 0;
    ASSERT_EQ(next_code_point(text, i), c);
    ASSERT_EQ(i, text.size());
  }
}

TEST(CodePoints, ReadsAndSkipsAsIcuDoes) {
  const std::string bounds =
      "\0A\x7F\x80\x8F\x90\x9F\xA0\xBF\xC0\xC1\xC2\xDF\xE0\xE1\xEC\xED\xEE\xEF\xF0\xF1\xF3\xF4\xF5\xFF"s;
  for (const char a : bounds) {
    for (const char b : bounds) {
      for (const char c : bounds) {
        for (const char d : bounds) {
          const std::string text{a, b, c, d};
          for (size_t size = 1; size <= text.size(); ++size) {
            size_t length = 0;
            UChar32 expected;
            U8_NEXT_OR_FFFD(text.data(), length, size, expected);
            const CodePoint found = code_point_at(std::string_view(text).substr(0, size), 0);
            ASSERT_EQ(found.value, static_cast<char32_t>(expected)) << testing::PrintToString(text) << " " << size;
            ASSERT_EQ(found.length, length) << testing::PrintToString(text) << " " << size;
            // U+FFFD itself is the one code point of this value that is valid.
            ASSERT_EQ(found.is_valid, expected != 0xFFFD || text.starts_with("\xEF\xBF\xBD"));
          }
        }
      }
    }
  }
}

TEST(CodePoints, SkipsBadBytesAsPythonReplacesThem) {
  for (const std::string text : {"\xFF", "\xC3", "\xE2\x82", "\xF0\x9F\x98", "\x80"}) {
    size_t i = 0;
    EXPECT_EQ(next_code_point(text, i), 0xFFFDu);
    EXPECT_EQ(i, text.size());
  }
}

TEST(CodePoints, CountsThem) {
  EXPECT_EQ(count_code_points(""), 0);
  EXPECT_EQ(count_code_points("a\u00E9\u3000\U0001F600"), 4);
}

TEST(Words, SplitAtWhiteSpaceOnly) {
  std::vector<std::string_view> words;
  split_words(" a\u00A0bc\t\u3000d\u200Be ", words);
  EXPECT_EQ(words, (std::vector<std::string_view>{"a", "bc", "d\u200Be"}));
  split_words("\u2009", words);
  EXPECT_TRUE(words.empty());
  split_words("", words);
  EXPECT_TRUE(words.empty());
}

TEST(CodePoints, PrintableHasNoCommandsOfATerminal) {
  EXPECT_EQ(printable("a\tb \u00E9\u3000\U0001F600"), "a\tb \u00E9\u3000\U0001F600");
  EXPECT_EQ(printable("\x1B[31m\r\n\x7F"), "?[31m???");
  EXPECT_EQ(printable("\u0080\u009B1m\u009F\u00A0"), "??1m?\u00A0");
  EXPECT_EQ(printable("\xE4 \xE2\x82"), "? ?");
  EXPECT_EQ(printable(std::string_view("\0", 1)), "?");
}

TEST(CodePoints, PrintableLineHasNoLineEnds) { EXPECT_EQ(printable_line("a\nb\rc\t\x1B"), "a b?c\t?"); }

TEST(CodePoints, AppendWithOrWithoutWhiteSpace) {
  std::vector<uint32_t> all, dense;
  append_code_points("a \u00E9\u3000\U0001F600", WhiteSpace::kKeep, all);
  append_code_points("a \u00E9\u3000\U0001F600", WhiteSpace::kDrop, dense);
  EXPECT_EQ(all, (std::vector<uint32_t>{'a', ' ', 0xE9, 0x3000, 0x1F600}));
  EXPECT_EQ(dense, (std::vector<uint32_t>{'a', 0xE9, 0x1F600}));
}

}  // namespace
}  // namespace nmt::code_points_test
