#include "text/language_code.h"

#include <unicode/locid.h>
#include <unicode/uloc.h>

#include <algorithm>

namespace nmt {

namespace {

std::string language_of(const std::string& code) { return code.substr(0, code.find_first_of("-_")); }

/// Three letters; empty where it is no language of two letters that ICU knows.
std::string iso_639_3(const std::string& language) {
  return language.size() == 2 ? uloc_getISO3Language(language.c_str()) : "";
}

}  // namespace

bool may_be_iso_639(const std::string& code) {
  const auto language = language_of(code);
  const bool letters =
      std::ranges::all_of(language, [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); });
  if (!letters || language.size() != 2) return letters && language.size() == 3;
  return !iso_639_3(language).empty();
}

bool are_other_languages(const std::string& one, const std::string& other) {
  const auto a = iso_639_3(language_of(one)), b = iso_639_3(language_of(other));
  return !a.empty() && !b.empty() && a != b;
}

LanguageCode::LanguageCode(std::string_view code) : name(code) {
  std::ranges::transform(name, name.begin(), [](char c) {
    if (c == '_') return '-';
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  });
  language = name;
  constexpr size_t kLongest = 64;
  if (name.size() > kLongest) return;
  UErrorCode status = U_ZERO_ERROR;
  auto locale = icu::Locale::forLanguageTag(name, status);
  locale.canonicalize(status);
  if (U_FAILURE(status) || locale.isBogus() || *locale.getLanguage() == '\0') return;
  // The macrolanguage, which is written as Bokmål; ICU leaves it.
  if (std::string_view(locale.getLanguage()) == "no") locale = icu::Locale("nb", locale.getCountry());
  name = locale.getName();
  language = locale.getLanguage();
  locale.addLikelySubtags(status);
  if (U_SUCCESS(status)) script = locale.getScript();
}

LanguageMatch match_languages(const LanguageCode& one, const LanguageCode& other) {
  if (one.name == other.name) return LanguageMatch::kSame;
  if (one.language != other.language) return LanguageMatch::kNone;
  return one.script == other.script ? LanguageMatch::kOtherRegion : LanguageMatch::kOtherScript;
}

}  // namespace nmt
