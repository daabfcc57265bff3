#include "base/unicode.h"

#include <set>

#include "base/error.h"
#include "base/golden_file.h"

namespace nmt::unicode_test {
namespace {

using test::from_hex;
using test::golden_rows;
using test::message_of;

TEST(Utf8, FindsTheFirstInvalidByteAsPythonDoes) {
  for (const auto& row : golden_rows("unicode.tsv", "repair")) {
    const auto found = find_invalid_utf8(from_hex(row[0]));
    EXPECT_EQ(found ? static_cast<int>(*found) : -1, std::stoi(row[2])) << row[0];
  }
}

TEST(Utf8, IsRepairedAsPythonDoes) {
  for (const auto& row : golden_rows("unicode.tsv", "repair")) {
    EXPECT_EQ(repair_utf8(from_hex(row[0])), from_hex(row[1])) << row[0];
  }
}

TEST(Utf8, AnInvalidByteIsFoundAtEveryOffset) {
  for (size_t size = 1; size < 40; ++size) {
    for (size_t at = 0; at < size; ++at) {
      std::string text(size, 'a');
      EXPECT_FALSE(find_invalid_utf8(text));
      text[at] = '\x80';
      EXPECT_EQ(find_invalid_utf8(text), at) << "of " << size;
      EXPECT_EQ(repair_utf8(text), text.substr(0, at) + "\uFFFD" + text.substr(at + 1));
    }
  }
}

TEST(Utf8, EveryCodePointComesBack) {
  std::u32string all;
  for (char32_t c = 0; c <= 0x10FFFF; ++c) {
    if (c < 0xD800 || c > 0xDFFF) all += c;
  }
  const std::string text = to_utf8(all);
  EXPECT_FALSE(find_invalid_utf8(text));
  EXPECT_TRUE(to_code_points(text) == all);
  EXPECT_EQ(to_utf8(U"aé€😀"), "aé€😀");
}

TEST(Utf8, WhatIsNoCodePointBecomesTheReplacementCharacter) {
  EXPECT_EQ(to_utf8(std::u32string{U'a', char32_t{0xD800}, char32_t{0x110000}, U'b'}), "a\uFFFD\uFFFDb");
}

TEST(LowerCase, IsPythonsForEveryLetter) {
  for (const auto& row : golden_rows("unicode.tsv", "lower")) {
    EXPECT_EQ(lower_case(from_hex(row[0])), from_hex(row[1])) << row[0];
  }
}

TEST(UpperCase, IsPythonsForEveryLetterOfTheSample) {
  for (const auto& row : golden_rows("unicode.tsv", "upper")) {
    EXPECT_EQ(upper_case(from_hex(row[0])), from_hex(row[1])) << row[0];
  }
}

TEST(LowerCase, RefusesWhatIsNotUtf8) {
  EXPECT_EQ(message_of<Error>([] { lower_case("ab\xFF"); }), "not UTF-8 at byte 2");
}

TEST(Nfkc, IsPythonsForEveryCharacterOfTheSample) {
  for (const auto& row : golden_rows("unicode.tsv", "nfkc")) {
    EXPECT_EQ(nfkc(from_hex(row[0])), from_hex(row[1])) << row[0];
  }
}

TEST(Nfkc, RefusesWhatIsNotUtf8) {
  EXPECT_EQ(message_of<Error>([] { nfkc("\xC3"); }), "not UTF-8 at byte 0");
}

TEST(PythonSpace, IsPythonsForEveryCodePoint) {
  std::set<char32_t> spaces;
  for (const auto& row : golden_rows("unicode.tsv", "space")) spaces.insert(std::stoul(row[0], nullptr, 16));
  for (char32_t c = 0; c <= 0x10FFFF; ++c) ASSERT_EQ(is_python_space(c), spaces.contains(c)) << uint32_t{c};
}

TEST(Strip, TakesEveryPythonSpaceOff) {
  for (const auto& row : golden_rows("unicode.tsv", "space")) {
    const std::string space = to_utf8(std::u32string(1, std::stoul(row[0], nullptr, 16)));
    const std::string text = space + space + "é" + space + "a" + space;
    EXPECT_EQ(strip(text), "é" + space + "a") << row[0];
    EXPECT_EQ(strip_end(text), space + space + "é" + space + "a") << row[0];
    EXPECT_EQ(strip(space + space), "") << row[0];
    EXPECT_EQ(strip_end(space), "") << row[0];
  }
}

TEST(Strip, KeepsEverythingElse) {
  for (const std::string text : {"", "a", "é", "😀 😀", "\u200b", "\ufeff", "\x80", "\xC2", "a\x85"}) {
    EXPECT_EQ(strip(text), text);
    EXPECT_EQ(strip_end(text), text);
  }
}

}  // namespace
}  // namespace nmt::unicode_test
