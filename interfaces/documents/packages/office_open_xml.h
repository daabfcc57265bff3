#pragma once

#include <string>
#include <vector>

#include "documents/packages/packaged_document.h"
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

/// Text, headers, footers, notes and comments of .docx. Runs with equal properties are one, so that no word is cut; the
/// translation's words have the properties of the words that they are aligned with.
std::vector<PackagedPart> read_docx(const ZipArchive& archive, const DocumentLimits& limits);

/// Slides, their notes and their diagrams, the same way.
std::vector<PackagedPart> read_pptx(const ZipArchive& archive, const DocumentLimits& limits);

}  // namespace nmt::documents
