#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "text/terms/text_range.h"
#include "translation/lines/translation.h"

namespace nmt {

/// A stretch of a line and what stands for it in the translation.
struct Replacement {
  TextRange range;
  std::string literal;
  bool is_term = false;
};

/// The terms and placeholders of a line (TranslationRequest::terms), from left to right; a placeholder goes before a
/// term within it or around it.
std::vector<Replacement> replacements_of(const TranslationRequest& request);

/// Takes the brackets and quotation marks around a stretch, behind a byte of the line, into it. "(%s)" is cut out as a
/// whole: a model that reads "()" may lose or divide it.
void take_brackets(std::string_view line, size_t behind, TextRange& range, std::string& literal);

}  // namespace nmt
