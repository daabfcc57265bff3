#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "text/sentencepiece/sentencepiece_tokenizer.h"

namespace nmt::convert {

using nmt::Piece;
using nmt::PieceType;
using nmt::read_pieces;

/// The same model with other pieces, of which 0 to 3 are <pad>, <unk>, <s> and </s>: normalisation and the way to cut
/// stay as they are.
std::string with_pieces(std::string_view serialized, const std::vector<Piece>& pieces);

}  // namespace nmt::convert
