#pragma once

#include <string>

namespace nmt {

/// Whether a code such as de, pt_BR or zh-Hant begins with a language of ISO 639: two letters that ICU knows, or any
/// three (there are thousands of these).
bool may_be_iso_639(const std::string& code);

/// Whether two codes surely name different languages: both begin with two letters that ICU knows, and not with the
/// same.
bool are_other_languages(const std::string& one, const std::string& other);

/// How well two codes agree. Capital letters do not matter, nor whether - or _ stands between their parts.
enum class LanguageMatch {
  kNone,
  kOtherRegion,  ///< one language, of other regions or scripts, or of no region and one: de and de-AT; also de and deu
  kSame
};
LanguageMatch match_languages(const std::string& one, const std::string& other);

}  // namespace nmt
