#pragma once

#include <string>
#include <string_view>

#include "text/aligned_translation.h"

namespace nmt::documents {

/// A catalog of gettext with its empty msgstr filled, in all plural forms of its header, and marked fuzzy, for a person
/// to look at. Entries that are translated, obsolete ones and the header stay as they are. Throws Error for lines that
/// no catalog has.
std::string translate_po(std::string_view bytes, const TranslateTexts& translate);

}  // namespace nmt::documents
