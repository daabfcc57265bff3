#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "documents/segments/segment.h"
#include "documents/segments/segment_collector.h"
#include "documents/segments/text_document.h"

namespace nmt::documents {

/// Which elements of HTML are blocks, which stay untouched (translate="no", class="notranslate", <code>, <pre>, ...),
/// and that alt, title and placeholder are text. For XHTML, too.
MarkupRules html_rules(EntitySet entities);

/// A page or a fragment, in UTF-8.
std::unique_ptr<TextDocument> read_html(std::string_view bytes, const DocumentLimits& limits);

/// XHTML of a book: HTML's elements in well-formed XML.
std::unique_ptr<TextDocument> read_xhtml(std::string_view bytes, const std::string& name, const DocumentLimits& limits);

/// A file of the name .xhtml: XHTML, or a page of HTML where it is not well-formed XML.
std::unique_ptr<TextDocument> read_xhtml_or_html(std::string_view bytes, const DocumentLimits& limits);

/// XML of any kind. An element with text of its own is a paragraph and the elements in it are inline; elements without
/// are structure. translate="no", with any prefix (ITS), keeps what is inside.
std::unique_ptr<TextDocument> read_xml(std::string_view bytes, const std::string& name, const DocumentLimits& limits);

}  // namespace nmt::documents
