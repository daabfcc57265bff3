#include "base/error.h"
#include "base/unicode.h"
#include "documents/document.h"
#include "documents/markup_checks.h"
#include "fuzz_target.h"
#include "text/alignment/toy_translators.h"

NMT_FUZZ_TARGET(markup_html, input) {
  using namespace nmt;
  documents::MarkupTokens before;
  if (find_invalid_utf8(input) || !fuzz::takes([&] { before = documents::tokenize_html(input, 256); })) return;
  size_t covered = 0;
  for (const auto& token : before.tokens) {
    fuzz::require(token.bytes.begin == covered, "every byte belongs to a token");
    covered = token.bytes.end;
  }
  fuzz::require(covered == input.size(), "every byte belongs to a token");
  std::vector<std::string> seen;
  fuzz::require(translate_html(input, test::listing(seen)) == input, "what is not changed keeps its bytes");
  for (const auto& text : seen) fuzz::require(!find_invalid_utf8(text), "texts are UTF-8");
  for (const auto& translate : {TranslateTexts(test::scramble), TranslateTexts(test::reverse_words)}) {
    const std::string out = translate_html(input, translate);
    const auto after = documents::tokenize_html(out, 256);
    fuzz::require(test::tags_of(before) == test::tags_of(after), "all tags are there");
    fuzz::require(!test::is_well_nested(before) || test::is_well_nested(after), "what nests still nests");
  }
}
