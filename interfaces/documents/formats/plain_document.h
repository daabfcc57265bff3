#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "documents/segments/text_document.h"

namespace nmt::documents {

/// Each line is a text.
std::unique_ptr<TextDocument> read_plain_text(std::string_view bytes);

/// Throws Error where bytes are not UTF-8; `what` is the format's name.
void check_utf8(std::string_view bytes, const std::string& what);

/// The byte behind the line that begins at `begin`, and the byte behind its text, without the line end.
struct LineEnds {
  size_t text, next;
};
LineEnds line_ends(std::string_view bytes, size_t begin);

}  // namespace nmt::documents
