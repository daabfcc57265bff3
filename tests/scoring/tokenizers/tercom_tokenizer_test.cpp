#include "base/unicode.h"
#include "scoring/metrics/ter.h"
#include "scoring/tokenizers/western_rules.h"
#include "support.h"

namespace nmt::scoring::tercom_tokenizer_test {
namespace {

std::string tokens_of(const std::string& text, const TerOptions& options) {
  std::string out, joined;
  tokenize_tercom(text, options, out);
  std::vector<std::string_view> words;
  split_words(out, words);
  for (const auto word : words) joined += (joined.empty() ? "" : " ") + std::string(word);
  return joined;
}

TEST(TercomTokenizer, SplitsAsSacrebleu) {
  struct Case {
    TerOptions options;
    std::string text, tokens;
  };
  const TerOptions normalized{.normalized = true}, asian{.normalized = true, .asian_support = true};
  const TerOptions no_punctuation{.no_punctuation = true}, bare{.no_punctuation = true, .asian_support = true};
  for (const auto& [options, text, tokens] :
       {Case{normalized, "Jim's car, 4.2; A-B 3-4 &amp;quot;(x)", "jim 's car , 4.2 ; a-b 3 - 4 & quot ; ( x )"},
        Case{asian, "りの拳銃を持カタカナ、ｱ", "りの 拳 銃 を 持 カタカナ 、 ｱ"},
        Case{bare, "美众院,公布。(对特)3.5", "美众院公布对特35"},
        Case{no_punctuation, "\"Yes,\" (he said)! Why? a.b;c:d", "yes he said why abcd"},
        Case{{}, "  Two  Words.\t", "two words."}, Case{{.case_sensitive = true}, "Two Words", "Two Words"},
        Case{{}, "ΣΑΣ ΑΣ. ΑΣ'Α", "σας ας. ασ'α"}, Case{{}, "İ", "i\u0307"},
        Case{normalized, "line\n-up\nnext", "lineup next"}, Case{{}, "", ""}}) {
    EXPECT_EQ(tokens_of(text, options), tokens) << "'" << text << "'";
  }
}

/// The first and last characters of the ranges that the rules for East Asian text name.
const std::vector<char32_t> kAsianCharacters = {0x4E00, 0x9FFF, 0x3400, 0x4DBF, 0x31C0, 0x31EF, 0x2E80, 0x2EFF,
                                                0x3300, 0x33FF, 0xF900, 0xFAFF, 0xFE30, 0xFE4F, 0x3200, 0x3F22};
const std::vector<char32_t> kAsianPunctuation = {0x3001, 0x3002, 0x3008, 0x3011, 0x3014, 0x301F,
                                                 0xFF61, 0xFF65, 0x30FB, 0xFF0E, 0xFF0C, 0xFF1F,
                                                 0xFF1A, 0xFF1B, 0xFF01, 0xFF02, 0xFF08, 0xFF09};

TEST(TercomTokenizer, SetsEastAsianCharactersApartOnRequest) {
  const auto tokens = [](char32_t c, bool asian_support, bool no_punctuation) {
    return tokens_of("a" + to_utf8(std::u32string(1, c)) + "b", {.normalized = !no_punctuation,
                                                                 .no_punctuation = no_punctuation,
                                                                 .asian_support = asian_support,
                                                                 .case_sensitive = true});
  };
  for (const auto& [set, is_punctuation] : {std::pair(kAsianCharacters, false), std::pair(kAsianPunctuation, true)}) {
    for (const char32_t c : set) {
      const std::string character = to_utf8(std::u32string(1, c));
      EXPECT_EQ(tokens(c, true, false), "a " + character + " b") << std::hex << static_cast<uint32_t>(c);
      EXPECT_EQ(tokens(c, false, false), "a" + character + "b");
      EXPECT_EQ(tokens(c, true, true), is_punctuation ? "ab" : "a" + character + "b");
    }
  }
  for (const char32_t c :
       {0x2E7F, 0x2F00, 0x31BF, 0x31F0, 0x31FF, 0xA000, 0xF8FF, 0xFB00, 0xFE2F, 0xFE50, 0x3000 + 0x42, 0xFF60}) {
    EXPECT_EQ(tokens(c, true, false), "a" + to_utf8(std::u32string(1, c)) + "b")
        << std::hex << static_cast<uint32_t>(c);
  }
}

}  // namespace
}  // namespace nmt::scoring::tercom_tokenizer_test
