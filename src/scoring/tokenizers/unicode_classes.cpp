#include "scoring/tokenizers/unicode_classes.h"

#include <unicode/uchar.h>

namespace nmt::scoring {

CharacterClass class_of(char32_t c) {
  const uint32_t mask = U_GET_GC_MASK(static_cast<UChar32>(c));
  if (mask & U_GC_P_MASK) return CharacterClass::kPunctuation;
  if (mask & U_GC_S_MASK) return CharacterClass::kSymbol;
  if (mask & U_GC_N_MASK) return CharacterClass::kNumber;
  return CharacterClass::kOther;
}

}  // namespace nmt::scoring
