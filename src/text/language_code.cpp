#include "text/language_code.h"

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

LanguageMatch match_languages(const std::string& one, const std::string& other) {
  const auto normal = [](std::string code) {
    std::ranges::transform(code, code.begin(), [](char c) {
      if (c == '_') return '-';
      return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
    });
    return code;
  };
  const auto language = [](const std::string& code) {
    const auto three_letters = iso_639_3(language_of(code));
    return three_letters.empty() ? language_of(code) : three_letters;
  };
  const auto a = normal(one), b = normal(other);
  if (a == b) return LanguageMatch::kSame;
  return language(a) == language(b) ? LanguageMatch::kOtherRegion : LanguageMatch::kNone;
}

}  // namespace nmt
