#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "documents/segments/document_limits.h"
#include "documents/segments/text_document.h"

namespace nmt::documents {

/// XML of any kind. An element with text of its own is a paragraph and the elements in it are inline; elements without
/// are structure. translate="no", with any prefix (ITS), keeps what is inside.
std::unique_ptr<TextDocument> read_xml(std::string_view bytes, const std::string& name, const DocumentLimits& limits);

}  // namespace nmt::documents
