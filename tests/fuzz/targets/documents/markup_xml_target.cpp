#include "documents/document.h"
#include "documents/markup_checks.h"
#include "documents/tokens/xml_tokenizer.h"
#include "fuzz_target.h"
#include "text/alignment/toy_translators.h"

NMT_FUZZ_TARGET(markup_xml, input) {
  using namespace nmt;
  documents::MarkupTokens before;
  if (!fuzz::takes([&] { before = documents::tokenize_xml(input, 256, "x.xml"); })) return;
  for (const auto format : {DocumentFormat::kXml, DocumentFormat::kXliff}) {
    std::string out;
    if (!fuzz::takes([&] { out = translate_document(format, input, test::scramble); })) continue;
    const auto after = documents::tokenize_xml(out, 256, "out.xml");  // throws where it is not well formed
    if (format == DocumentFormat::kXml)
      fuzz::require(test::tags_of(before) == test::tags_of(after), "all tags are there");
  }
}
