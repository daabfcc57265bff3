#pragma once

#include <string_view>

#include "documents/tokens/markup_token.h"

namespace nmt::documents {

/// HTML as people write it: optional end tags, attributes without quotes, tags that cross. Any bytes are taken and each
/// belongs to a token, which no library for HTML promises. Linear in time. `document` has to live as long as the
/// result. Throws Error only where elements are nested deeper than `most_depth`.
MarkupTokens tokenize_html(std::string_view document, size_t most_depth);

}  // namespace nmt::documents
