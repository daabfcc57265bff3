#include "text/language_code.h"

#include <unicode/uloc.h>

#include <algorithm>

namespace nmt {

bool may_be_iso_639(const std::string& code) {
  const auto language = code.substr(0, code.find_first_of("-_"));
  const bool letters =
      std::ranges::all_of(language, [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); });
  if (!letters || language.size() != 2) return letters && language.size() == 3;
  return *uloc_getISO3Language(language.c_str()) != '\0';
}

}  // namespace nmt
