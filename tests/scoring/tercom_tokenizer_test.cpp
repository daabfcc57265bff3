#include "scoring/tercom_tokenizer.h"

#include "scoring/ter.h"
#include "scoring/words.h"
#include "support.h"

namespace nmt::scoring {
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

}  // namespace
}  // namespace nmt::scoring
