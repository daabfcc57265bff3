#pragma once

namespace nmt::scoring {

/// The major class of a code point's general category, as far as tokenisation asks for it.
enum class CharacterClass { kOther, kNumber, kPunctuation, kSymbol };

/// By the Unicode version of the ICU library; unassigned code points are kOther.
CharacterClass class_of(char32_t c);

}  // namespace nmt::scoring
