#pragma once

#include <string_view>

#include "translation/lines/translation.h"

namespace nmt {

/// What stands in a line of input.
enum class InputFormat {
  kText,  ///< the source
  kTsv,   ///< SOURCE [<tab> PREFIX [<tab> MUST [<tab> MUST_NOT]]]; phrases of MUST and MUST_NOT are separated by |
  kJson,  ///< {"source": TEXT [, "prefix": TEXT][, "must": TEXT or [TEXT...]][, "must_not": TEXT or [TEXT...]]}
};

/// A line of valid UTF-8 as a request. White space at the ends of phrases is dropped, empty ones are left out; an empty
/// line asks for nothing in every format. Throws Error for a line that is not of the format (more columns, no JSON
/// object, an unknown key, a wrong type); the caller says which line.
TranslationRequest parse_request(std::string_view line, InputFormat format);

}  // namespace nmt
