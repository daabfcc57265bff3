#pragma once

#include <string>

namespace nmt {

/// Whether a code such as de, pt_BR or zh-Hant begins with a language of ISO 639: two letters that ICU knows, or any
/// three (there are thousands of these).
bool may_be_iso_639(const std::string& code);

/// Whether two codes surely name different languages: both begin with two letters that ICU knows, and not with the
/// same.
bool are_other_languages(const std::string& one, const std::string& other);

}  // namespace nmt
