#include "scoring/tokenizers/tokenizers.h"

#include <cstdlib>

#include "base/error.h"
#include "base/unicode.h"
#include "support.h"

namespace nmt::scoring::tokenizers_test {
namespace {

using nmt::test::message_of;

struct TokenizerCase {
  std::string tokenizer, text, tokens;
};

class TokenizerOf : public ::testing::TestWithParam<TokenizerCase> {};

TEST_P(TokenizerOf, SplitsAsSacrebleu) {
  const auto& [tokenizer, text, tokens] = GetParam();
  EXPECT_EQ(make_tokenizer(tokenizer)->tokenize(text), tokens) << tokenizer << " of '" << text << "'";
}

constexpr const char* kPrices = "U.S. costs $5.00 (approx.) 50% of a-b 3-4.";
constexpr const char* kEscapes = "&quot;A&amp;lt;B&quot; &lt;tag&gt; &apos;x&apos;";
constexpr const char* kPeriods = "a..b ,, c.,d 1.2.3 .5 5. x.";
constexpr const char* kSkipped = "Test<skipped>ing 10-20 -5 foo- bar";
constexpr const char* kDigits = "١٢٣,٤٥ ½ x² 5½.";
constexpr const char* kQuotes = "«Straße» – “quoted” … €10 ‘x’";
constexpr const char* kPlanes = "𠮷野家 é😀!";
constexpr const char* kSpaces = "a\u00A0b\u3000c\u200Bd\u2009e";

INSTANTIATE_TEST_SUITE_P(
    Vectors, TokenizerOf,
    ::testing::Values(TokenizerCase{"13a", kPrices, "U . S . costs $ 5.00 ( approx . ) 50 % of a-b 3 - 4 ."},
                      TokenizerCase{"13a", kEscapes, "\" A < B \" < tag > & apos ; x & apos ;"},
                      TokenizerCase{"13a", kPeriods, "a . . b , , c . , d 1.2.3 . 5 5 . x ."},
                      TokenizerCase{"13a", kSkipped, "Testing 10 - 20 -5 foo- bar"},
                      TokenizerCase{"13a", kDigits, "١٢٣ , ٤٥ ½ x² 5½ ."},
                      TokenizerCase{"13a", kSpaces, "a b c\u200Bd e"},
                      TokenizerCase{"13a", "foo-\nbar\nbaz", "foobar baz"}, TokenizerCase{"13a", "", ""},
                      TokenizerCase{"intl", kPrices, "U . S . costs $ 5.00 ( approx . ) 50 % of a - b 3-4."},
                      TokenizerCase{"intl", kSkipped, "Test < skipped > ing 10-20 - 5 foo - bar"},
                      TokenizerCase{"intl", kDigits, kDigits},
                      TokenizerCase{"intl", kQuotes, "« Straße » – “ quoted ” … € 10 ‘ x ’"},
                      TokenizerCase{"intl", kPlanes, "𠮷野家 é 😀 !"},
                      TokenizerCase{"zh", "中文测试,100%。ABC def.", "中 文 测 试 , 100 % 。 ABC def ."},
                      TokenizerCase{"zh", kQuotes, "«Straße» – “ quoted ” … € 10 ‘ x ’"},
                      TokenizerCase{"zh", kPlanes, "𠮷 野 家 é😀 !"}, TokenizerCase{"zh", kSpaces, "a b c \u200B d e"},
                      TokenizerCase{"zh", "It costs 2.", "It costs 2."},  // no padding: nothing follows the period
                      TokenizerCase{"char", "añ 𠮷", "a ñ 𠮷"},
                      TokenizerCase{"none",
                                    "a.b  c\x1C"
                                    "d",
                                    "a.b c d"}));

TEST(Tokenizers, ChineseTakesInJustTheseRanges) {
  struct Range {
    char32_t first, last;
  };
  for (const auto& [first, last] :
       {Range{0x2001, 0x2A6D}, Range{0x2E80, 0x2FDF}, Range{0x2FF0, 0x303F}, Range{0x3100, 0x312F},
        Range{0x31A0, 0x31EF}, Range{0x3200, 0x4DB5}, Range{0x4E00, 0x9FBB}, Range{0xF900, 0xFA2D},
        Range{0xFA30, 0xFA6A}, Range{0xFA70, 0xFAD9}, Range{0xFE10, 0xFE1F}, Range{0xFE30, 0xFE4F},
        Range{0xFF00, 0xFFEF}}) {
    for (const char32_t c : {char32_t(first - 1), first, last, char32_t(last + 1)}) {
      const bool alone = c == first || c == last;
      if (is_python_space(c)) continue;
      const std::string character = to_utf8(std::u32string(1, c));
      EXPECT_EQ(make_tokenizer("zh")->tokenize("a" + character + "b"),
                alone ? "a " + character + " b" : "a" + character + "b")
          << "U+" << std::hex << static_cast<uint32_t>(c);
    }
  }
}

TEST(Tokenizers, ChineseStripsTheLineFirst) { EXPECT_EQ(make_tokenizer("zh")->tokenize(" .5 5. "), ".5 5."); }

TEST(Tokenizers, SignWithTheirNames) {
  for (const std::string name : {"none", "zh", "13a", "intl", "char"})
    EXPECT_EQ(make_tokenizer(name)->signature(), name);
}

TEST(Tokenizers, AreChosenByLanguage) {
  EXPECT_EQ(tokenizer_for_language("zh"), "zh");
  EXPECT_EQ(tokenizer_for_language("ja"), "ja-mecab");
  EXPECT_EQ(tokenizer_for_language("ko"), "ko-mecab");
  EXPECT_EQ(tokenizer_for_language("de"), "13a");
  EXPECT_EQ(tokenizer_for_language(""), "13a");
}

TEST(Tokenizers, NameTheChoicesForAnUnknownName) {
  EXPECT_EQ(message_of<Error>([] { make_tokenizer("moses"); }),
            "tokenizer 'moses': unknown; choose one of none, zh, 13a, intl, char, ja-mecab, ko-mecab, spm, flores101, "
            "flores200, spBLEU-1K");
}

TEST(Tokenizers, JapaneseNeedsMecab) {
  try {
    const auto tokenizer = make_tokenizer("ja-mecab");
    EXPECT_EQ(tokenizer->tokenize(" 今日はいい天気ですね。\u3000"), "今日 は いい 天気 です ね 。");
    EXPECT_TRUE(tokenizer->signature().starts_with("ja-mecab-0.99")) << tokenizer->signature();
  } catch (const Error& error) {
    const std::string message = error.what();
    EXPECT_TRUE(message.starts_with("tokenizer 'ja-mecab': ")) << message;
    GTEST_SKIP() << message;
  }
}

TEST(Tokenizers, SayWhereASentencePieceModelShouldBe) {
  const nmt::test::TemporaryDirectory folder;
  setenv("SACREBLEU", folder.path().c_str(), 1);
  EXPECT_EQ(message_of<Error>([] { make_tokenizer("flores200"); }),
            "tokenizer 'flores200': " + (folder / "models/flores200sacrebleuspm").string() +
                " is not there; download the model and name it with --spm-model FILE");
  unsetenv("SACREBLEU");
  EXPECT_EQ(message_of<Error>([] { make_tokenizer("flores101", "/no/such.model"); }),
            "--spm-model /no/such.model: no such file");
}

}  // namespace
}  // namespace nmt::scoring::tokenizers_test
