#include "text/moses/moses_detokenizer.h"

#include <gtest/gtest.h>

#include "base/unicode.h"
#include "text/moses/moses_golden.h"
#include "text/moses/moses_tokenizer.h"

namespace nmt::moses_detokenizer_test {
namespace {

const MosesDetokenizer kEnglish(MosesLanguage::kEnglish), kGerman(MosesLanguage::kGerman);

TEST(MosesDetokenizer, WritesWhatSacremosesWrites) {
  const auto golden = test::moses_golden();
  for (const auto& row : golden["lines"]) {
    const auto language = moses_language(row["language"].get<std::string>());
    const auto line = row["line"].get<std::string>();
    SCOPED_TRACE(row["language"].get<std::string>() + ": " + line);
    EXPECT_EQ(MosesDetokenizer(language).detokenize(row["tokens"].get<std::string>()),
              row["joined"].get<std::string>());
    EXPECT_EQ(MosesDetokenizer(language).detokenize(line), row["line joined"].get<std::string>());
    EXPECT_EQ(MosesDetokenizer(language, {.unescape = false}).detokenize(line),
              row["line joined as it is"].get<std::string>());
  }
}

TEST(MosesDetokenizer, UndoesTheTokenizerOnPlainSentences) {
  const std::string english = "The Jones' dog (a big one) doesn't cost $5, \"as they say\"; it's free!";
  EXPECT_EQ(kEnglish.detokenize(MosesTokenizer(MosesLanguage::kEnglish).tokenize(english)), english);
  const std::string german = "Am 3. Oktober sagte Dr. Kim: \"Das kostet 1.000,50 Euro, z.B. hier.\"";
  EXPECT_EQ(kGerman.detokenize(MosesTokenizer(MosesLanguage::kGerman).tokenize(german)), german);
}

TEST(MosesDetokenizer, TakesAnyBytes) {
  EXPECT_EQ(kEnglish.detokenize(""), "");
  EXPECT_EQ(kEnglish.detokenize(" \t\r"), "");
  EXPECT_EQ(kEnglish.detokenize("a \xff ."), "a \uFFFD.");
  const std::string nul("a \0 .", 5);
  EXPECT_EQ(kEnglish.detokenize(nul), std::string("a \0.", 4));
  uint64_t state = 1;
  for (int i = 0; i < 3000; ++i) {
    std::string line;
    for (int n = 0; n < 40; ++n) {
      state = state * 6364136223846793005ULL + 1442695040888963407ULL;
      line += static_cast<char>(n % 3 ? ".,'- a1Z&\xc3"[(state >> 33) % 10] : state >> 56);
    }
    EXPECT_FALSE(find_invalid_utf8(kEnglish.detokenize(line)));
  }
}

TEST(MosesDetokenizer, TakesLongLines) {
  constexpr size_t kCount = 50'000;
  std::string tokens, expected;
  for (size_t i = 0; i < kCount; ++i) {
    tokens += "it &apos;s @-@ so , ";
    expected += "it's-so, ";
  }
  expected.pop_back();
  EXPECT_EQ(kEnglish.detokenize(tokens), expected);
}

}  // namespace
}  // namespace nmt::moses_detokenizer_test
