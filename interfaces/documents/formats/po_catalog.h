#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "text/aligned_translation.h"

namespace nmt::documents {

/// A catalog of gettext with its empty msgstr filled, in all plural forms of its header, and marked fuzzy, for a person
/// to look at. Entries that are translated, obsolete ones and the header stay as they are. Throws Error for lines that
/// no catalog has. `left` is how many entries ask for a translation and get none: those that are fuzzy already, and
/// those with an escape that no translation can take over.
std::string translate_po(std::string_view bytes, const TranslateTexts& translate, size_t* left = nullptr);

}  // namespace nmt::documents
