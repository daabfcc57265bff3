#include "server/languages/language_name.h"

#include <unicode/locid.h>
#include <unicode/unistr.h>

namespace nmt {

std::string language_name(const std::string& code) {
  UErrorCode status = U_ZERO_ERROR;
  const auto locale = icu::Locale::forLanguageTag(code, status);
  if (U_FAILURE(status) || locale.isBogus()) return code;
  icu::UnicodeString name;
  locale.getDisplayName(icu::Locale::getEnglish(), name);
  std::string text;
  name.toUTF8String(text);
  return text.empty() ? code : text;
}

}  // namespace nmt
