#include "text/normalization.h"

#include <unicode/uscript.h>
#include <unicode/utf8.h>

#include "base/code_points.h"
#include "base/unicode.h"

namespace nmt {
namespace {

bool is_latin(UChar32 c) {
  UErrorCode status = U_ZERO_ERROR;
  return uscript_getScript(c, &status) == USCRIPT_LATIN;
}

std::string keep_latin(std::string_view text) {
  std::string kept;
  for (size_t i = 0; i < text.size();) {
    const size_t begin = i;
    const char32_t c = next_code_point(text, i);
    if (is_python_space(c) || c == '\'' || is_latin(c)) kept.append(text, begin, i - begin);
  }
  return kept;
}

}  // namespace

std::string normalize(std::string_view text, const Normalization& normalization) {
  std::string result(strip(text));
  if (!normalization.nfkc && !normalization.lowercase && !normalization.latin_only) return result;
  if (find_invalid_utf8(result)) result = repair_utf8(result);
  if (normalization.nfkc) result = std::string(strip(nfkc(result)));
  if (normalization.lowercase) result = lower_case(result);
  if (normalization.latin_only) result = std::string(strip(keep_latin(result)));
  return result;
}

}  // namespace nmt
