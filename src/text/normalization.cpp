#include "text/normalization.h"

#include "base/unicode.h"

namespace nmt {

std::string normalize(std::string_view text, const Normalization& normalization) {
  std::string result(strip(text));
  if (!normalization.nfkc && !normalization.lowercase) return result;
  if (find_invalid_utf8(result)) result = repair_utf8(result);
  if (normalization.nfkc) result = std::string(strip(nfkc(result)));
  if (normalization.lowercase) result = lower_case(result);
  return result;
}

}  // namespace nmt
