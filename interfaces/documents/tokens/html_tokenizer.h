#pragma once

#include <string_view>

#include "documents/tokens/markup_token.h"

namespace nmt::documents {

/// What the HTML standard says of elements, by their names in lower case.

/// Has neither content nor an end tag: <br>.
bool is_void_element(std::string_view name);
/// Its content is raw up to its end tag: <script>, <textarea>.
bool is_raw_text_element(std::string_view name);
/// Ends the sentence around it. All others, also unknown ones, stand in a line of text.
bool is_block_element(std::string_view name);
/// Ends an open <p>.
bool closes_paragraph(std::string_view name);
/// Never holds text for readers, or holds text that is no language: <script>, <code>, <svg>.
bool is_kept_element(std::string_view name);

/// HTML as people write it: optional end tags, attributes without quotes, tags that cross. Any bytes are taken and each
/// belongs to a token, which no library for HTML promises. Linear in time. `document` has to live as long as the
/// result. Throws Error only where elements are nested deeper than `most_depth`.
MarkupTokens tokenize_html(std::string_view document, size_t most_depth);

}  // namespace nmt::documents
