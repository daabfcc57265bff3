#include "documents/formats/html_document.h"

#include "base/error.h"
#include "documents/formats/html_rules.h"
#include "documents/formats/plain_document.h"
#include "documents/tokens/html_tokenizer.h"
#include "documents/tokens/xml_tokenizer.h"

namespace nmt::documents {

std::unique_ptr<TextDocument> read_html(std::string_view bytes, const DocumentLimits& limits) {
  check_utf8(bytes, "HTML");
  auto document = std::make_unique<TextDocument>(std::string(bytes));
  const auto markup = tokenize_html(document->bytes(), limits.depth);
  collect_segments(markup, html_rules(EntitySet::kHtml), 0, markup.tokens.size(), true, document->segments);
  return document;
}

std::unique_ptr<TextDocument> read_xhtml(std::string_view bytes, const std::string& name,
                                         const DocumentLimits& limits) {
  auto document = std::make_unique<TextDocument>(std::string(bytes));
  const auto markup = tokenize_xml(document->bytes(), limits.depth, name);
  collect_segments(markup, html_rules(EntitySet::kXhtml), 0, markup.tokens.size(), true, document->segments);
  return document;
}

std::unique_ptr<TextDocument> read_xhtml_or_html(std::string_view bytes, const DocumentLimits& limits) {
  try {
    // HTML has no <script/>: all behind it would be script.
    return read_xhtml(bytes, "XHTML", limits);
  } catch (const Error&) {
    return read_html(bytes, limits);
  }
}

}  // namespace nmt::documents
