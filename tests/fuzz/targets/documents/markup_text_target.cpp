#include "documents/document.h"
#include "fuzz_target.h"
#include "text/alignment/toy_translators.h"

// Subtitles, catalogs and plain text.
NMT_FUZZ_TARGET(markup_text, input) {
  using namespace nmt;
  for (const auto format : {DocumentFormat::kText, DocumentFormat::kSrt, DocumentFormat::kVtt, DocumentFormat::kPo}) {
    std::vector<std::string> seen;
    std::string out;
    if (!fuzz::takes([&] { out = translate_document(format, input, test::listing(seen)); })) continue;
    if (format != DocumentFormat::kPo) fuzz::require(out == input, "what is not changed keeps its bytes");
    for (const auto& text : seen) fuzz::require(text.find('\n') == text.npos, "texts have no line ends");
    fuzz::look_at(translate_document(format, input, test::scramble));
  }
}
