#pragma once

#include <string>
#include <string_view>

#include "documents/tokens/markup_token.h"

namespace nmt::documents {

/// Well-formed XML 1.0 in UTF-8, read by expat; every byte belongs to a token. Nothing outside of the document is read.
/// Throws Error, with `name` and the line, for what is not well formed, for a document type that defines entities, and
/// for elements that are nested deeper than `most_depth`. Linear in time. `document` has to live as long as the result.
MarkupTokens tokenize_xml(std::string_view document, size_t most_depth, const std::string& name);

}  // namespace nmt::documents
