#pragma once

#include <string>
#include <string_view>

namespace nmt::documents {

/// White space of a document that becomes one space: not the no-break space, but all line ends and control characters.
/// The bytes of that which begins at text[i]; 0 if there is none.
size_t collapsible_length(std::string_view text, size_t i);

bool is_white(std::string_view text);

/// Whether there is a letter in it. Numbers and marks alone are nothing to translate.
bool has_letter(std::string_view text);

/// A text without its tags, and the white space that stood at its ends.
struct CollapsedText {
  std::string lead, text, tail;
};
CollapsedText collapse(std::string_view text);

}  // namespace nmt::documents
