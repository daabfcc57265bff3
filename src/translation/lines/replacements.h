#pragma once

#include <cstddef>
#include <optional>
#include <string_view>
#include <vector>

#include "text/aligned_translation.h"
#include "translation/lines/request.h"

namespace nmt {

/// A stretch of a line that becomes something in the translation that no model chooses.
struct Replacement {
  ByteRange range;
  std::optional<size_t> term = {};  ///< of the glossary; nothing: a placeholder, which stays
};

/// The terms and placeholders of a line (Request::terms), from left to right; a placeholder goes before a
/// term within it or around it.
std::vector<Replacement> replacements_of(const Request& request);

/// A stretch with the brackets and quotation marks around it, behind a byte of the line. "(%s)" is cut out as a whole:
/// a model that reads "()" may lose or divide it.
ByteRange with_brackets(std::string_view line, size_t behind, ByteRange range);

}  // namespace nmt
