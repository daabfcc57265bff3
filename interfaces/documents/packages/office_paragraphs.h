#pragma once

#include <string>
#include <vector>

#include "documents/segments/text_document.h"
#include "documents/tokens/markup_token.h"

namespace nmt::documents {

/// WordprocessingML and DrawingML have paragraphs <p> of runs <r> with properties <rPr> and texts <t>, in different
/// namespaces.
struct OfficeDialect {
  std::string prefix;           ///< of the namespace, with its colon: "w:"
  std::string text_attributes;  ///< of each <t>
};

/// Appends the paragraphs of a part, also those in text boxes and notes inside of others.
void collect_office_paragraphs(const MarkupTokens& markup, const OfficeDialect& dialect, std::vector<Segment>& out);

}  // namespace nmt::documents
