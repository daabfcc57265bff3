#pragma once

#include "documents/packages/packaged_document.h"

namespace nmt::documents {

/// The chapters of a book and its tables of contents, as its package document lists them.
std::vector<PackagedPart> read_epub(const ZipArchive& archive, const DocumentLimits& limits);

}  // namespace nmt::documents
