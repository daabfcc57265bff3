#include <gtest/gtest.h>

#include "text/moses/moses_golden.h"
#include "text/moses/moses_language.h"

namespace nmt::moses_characters_test {
namespace {

TEST(MosesCharacters, AreThoseOfSacremoses) {
  const auto golden = test::moses_golden()["characters"];
  const auto check = [&](const char* name, bool (*is_in)(char32_t)) {
    int64_t count = 0, sum = 0;
    for (char32_t c = 0; c < 0x110000; ++c) {
      if (!is_in(c) || (c >= 0xD800 && c < 0xE000)) continue;
      ++count;
      sum += c;
    }
    EXPECT_EQ(count, golden[name][0]) << name;
    EXPECT_EQ(sum, golden[name][1]) << name;
  };
  check("letter", moses::is_letter);
  check("letter or mark", moses::is_letter_or_mark);
  check("letter, mark or digit", moses::is_letter_mark_or_digit);
  check("number", moses::is_number);
  check("lower case", moses::is_lower_case);
  check("currency", moses::is_currency);
  check("ideograph", moses::is_ideograph);
}

TEST(MosesCharacters, CharactersBeyondUnicodeAreInNoClass) {
  for (const char32_t c : {char32_t{0x110000}, char32_t{0x110005}, char32_t{0xFFFFFFFF}}) {
    EXPECT_FALSE(moses::is_letter_mark_or_digit(c) || moses::is_number(c) || moses::is_lower_case(c));
    EXPECT_FALSE(moses::is_currency(c) || moses::is_ideograph(c));
  }
}

}  // namespace
}  // namespace nmt::moses_characters_test
