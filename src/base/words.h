#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

namespace nmt {

/// The bytes of the white space of Python's str.split() that begins at text[i]; 0 if there is none.
size_t space_length(std::string_view text, size_t i);

/// What Python's str.split() finds: the parts between white space. Replaces `words`; the views are into `text`.
void split_words(std::string_view text, std::vector<std::string_view>& words);

}  // namespace nmt
