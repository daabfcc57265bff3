#pragma once

#include "documents/packages/packaged_document.h"

namespace nmt::documents {

/// .odt and .odp: paragraphs, headings, notes, text boxes and descriptions in content.xml, headers and footers in
/// styles.xml. Deleted text of tracked changes stays.
std::vector<PackagedPart> read_open_document(const ZipArchive& archive, const DocumentLimits& limits);

}  // namespace nmt::documents
