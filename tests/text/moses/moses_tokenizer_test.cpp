#include "text/moses/moses_tokenizer.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "base/unicode.h"
#include "text/moses/moses_golden.h"

namespace nmt::moses_tokenizer_test {
namespace {

const MosesTokenizer kEnglish(MosesLanguage::kEnglish), kGerman(MosesLanguage::kGerman);

TEST(MosesTokenizer, WritesWhatSacremosesWrites) {
  const auto golden = test::moses_golden();
  for (const auto& row : golden["lines"]) {
    const auto language = moses_language(row["language"].get<std::string>());
    const auto line = row["line"].get<std::string>();
    SCOPED_TRACE(row["language"].get<std::string>() + ": " + line);
    EXPECT_EQ(MosesTokenizer(language).tokenize(line), row["tokens"].get<std::string>());
    EXPECT_EQ(MosesTokenizer(language, {.aggressive_dash_splits = true}).tokenize(line),
              row["dashes"].get<std::string>());
    EXPECT_EQ(MosesTokenizer(language, {.escape = false}).tokenize(line), row["plain"].get<std::string>());
  }
}

TEST(MosesTokenizer, KeepsThePointsOfAbbreviations) {
  EXPECT_EQ(kGerman.tokenize("Dr. Kim kam z.B. am 3. Mai."), "Dr. Kim kam z.B. am 3. Mai .");
  EXPECT_EQ(kEnglish.tokenize("No. 5 is old. No. He is 3. Yes."), "No. 5 is old . No . He is 3 . Yes .");
}

TEST(MosesTokenizer, TakesAnyBytes) {
  EXPECT_EQ(kEnglish.tokenize("a\xff\xfe b"), "a \uFFFD \uFFFD b");
  EXPECT_EQ(kEnglish.tokenize("\xe4\xbd"), "\uFFFD");
  EXPECT_EQ(kEnglish.tokenize(std::string("a\0b\0", 4)), "ab");
  EXPECT_EQ(kGerman.tokenize("Ende.\r"), "Ende .");
}

TEST(MosesTokenizer, TakesLongLines) {
  constexpr size_t kCount = 50'000;  // long enough to show time that grows with the square
  std::string words, expected;
  for (size_t i = 0; i < kCount; ++i) {
    words += "it's ";
    expected += i == 0 ? "it &apos;s" : " it &apos;s";
  }
  EXPECT_EQ(kEnglish.tokenize(words), expected);
  EXPECT_EQ(kEnglish.tokenize(std::string(kCount, '.')), std::string(kCount, '.'));
  const std::string commas_apart = kGerman.tokenize(std::string(kCount, ','));
  EXPECT_EQ(std::ranges::count(commas_apart, ','), static_cast<int64_t>(kCount));
  EXPECT_EQ(kGerman.tokenize(std::string(kCount, ' ')), "");
  std::string multi;
  for (size_t i = 0; i < kCount; ++i) multi += "DOT";
  EXPECT_EQ(kGerman.tokenize(multi + "MULTI"), std::string(kCount, '.'));
}

TEST(MosesTokenizer, WritesTokensOfValidUtf8ForAnyBytes) {
  uint64_t state = 1;
  for (int i = 0; i < 3000; ++i) {
    std::string line;
    for (int n = 0; n < 40; ++n) {
      state = state * 6364136223846793005ULL + 1442695040888963407ULL;
      line += static_cast<char>(n % 3 ? ".,'- a1Z&\xc3"[(state >> 33) % 10] : state >> 56);
    }
    for (const auto& tokenizer : {kEnglish, kGerman}) {
      const std::string tokens = tokenizer.tokenize(line);
      EXPECT_FALSE(find_invalid_utf8(tokens));
      EXPECT_EQ(tokens.find_first_of("<>\"[]|\n\t\r"), std::string::npos) << tokens;
    }
  }
}

}  // namespace
}  // namespace nmt::moses_tokenizer_test
