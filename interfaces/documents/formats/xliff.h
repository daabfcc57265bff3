#pragma once

#include <memory>
#include <string_view>

#include "documents/segments/segment.h"
#include "documents/segments/text_document.h"

namespace nmt::documents {

/// XLIFF 1.2 and 2.x. Missing and empty targets are filled and marked as work of a machine: state
/// needs-review-translation in 1.2, translated in 2.x. Targets that are there stay, and so does translate="no".
std::unique_ptr<TextDocument> read_xliff(std::string_view bytes, const DocumentLimits& limits);

}  // namespace nmt::documents
