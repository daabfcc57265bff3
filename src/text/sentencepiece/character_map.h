#pragma once

#include <string_view>

namespace nmt {

/// Whether the tables of characters in a SentencePiece model file keep to themselves. SentencePiece walks them (double
/// arrays of Darts-clone) without looking where a step leads: in a file that is made for it, out of memory. Takes time
/// proportional to the tables.
bool has_sound_character_maps(std::string_view serialized);

}  // namespace nmt
