#pragma once

#include "documents/packages/packaged_document.h"

namespace nmt::documents {

/// Text, headers, footers, notes and comments of .docx. Runs with equal properties are one, so that no word is cut; the
/// translation's words have the properties of the words that they are aligned with.
std::vector<PackagedPart> read_docx(const ZipArchive& archive, const DocumentLimits& limits);

/// Slides, their notes and their diagrams, the same way.
std::vector<PackagedPart> read_pptx(const ZipArchive& archive, const DocumentLimits& limits);

}  // namespace nmt::documents
