#pragma once

#include "markup/packages/packaged_document.h"

namespace nmt::markup {

/// The chapters of a book and its tables of contents, as its package document lists them.
std::vector<PackagedPart> read_epub(const ZipArchive& archive, const DocumentLimits& limits);

}  // namespace nmt::markup
