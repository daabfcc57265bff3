#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace nmt {

/// What a piece of a SentencePiece model is (sentencepiece_model.proto).
enum class PieceType { kNormal = 1, kUnknown = 2, kControl = 3, kUserDefined = 4, kUnused = 5, kByte = 6 };

struct Piece {
  std::string text;
  float score = 0;
  PieceType type = PieceType::kNormal;
};

/// The pieces of a model file in the order of their ids. Throws Error ("NAME: ...") for what is no such file.
std::vector<Piece> read_pieces(std::string_view serialized, const std::string& name);

}  // namespace nmt
