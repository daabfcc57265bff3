#pragma once

#include <string>
#include <string_view>

namespace nmt {

/// Whether a code such as de, pt_BR or zh-Hant begins with a language of ISO 639: two letters that ICU knows, or any
/// three (there are thousands of these).
bool may_be_iso_639(const std::string& code);

/// Whether two codes surely name different languages: both begin with two letters that ICU knows, and not with the
/// same.
bool are_other_languages(const std::string& one, const std::string& other);

/// A code of BCP 47 in ICU's canonical form: zh_tw is language zh, script Hant. Letters of any case are taken, - or _
/// between its parts, and older and longer codes (iw, deu, no). What is no code is a language of its own.
struct LanguageCode {
  explicit LanguageCode(std::string_view code);

  std::string name;      ///< all of it: pt_BR
  std::string language;  ///< pt
  std::string script;    ///< Latn: the likely one where the code names none; empty where nobody knows
};

/// How well two codes agree.
enum class LanguageMatch {
  kNone,
  kOtherScript,  ///< one language in other scripts: zh-Hans and zh-Hant
  kOtherRegion,  ///< one language, of other regions, or of no region and one: de and de-AT, zh-Hans and zh-CN
  kSame          ///< also de and deu, he and iw
};
LanguageMatch match_languages(const LanguageCode& one, const LanguageCode& other);

}  // namespace nmt
