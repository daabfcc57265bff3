#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "documents/segments/document_limits.h"
#include "documents/segments/text_document.h"

namespace nmt::documents {

/// A page or a fragment, in UTF-8.
std::unique_ptr<TextDocument> read_html(std::string_view bytes, const DocumentLimits& limits);

/// XHTML of a book: HTML's elements in well-formed XML.
std::unique_ptr<TextDocument> read_xhtml(std::string_view bytes, const std::string& name, const DocumentLimits& limits);

/// A file of the name .xhtml: XHTML, or a page of HTML where it is not well-formed XML.
std::unique_ptr<TextDocument> read_xhtml_or_html(std::string_view bytes, const DocumentLimits& limits);

}  // namespace nmt::documents
