#include "text/sentencepiece/sentencepiece_pieces.h"

#include <cstring>

#include "base/error.h"
#include "base/files/protocol_buffer.h"

namespace nmt {
namespace {

constexpr uint64_t kPieces = 1;                       // of the model: sentencepiece_model.proto
constexpr uint64_t kText = 1, kScore = 2, kType = 3;  // of a piece

}  // namespace

std::vector<Piece> read_pieces(std::string_view serialized, const std::string& name) {
  std::vector<Piece> pieces;
  const bool complete = for_each_field(serialized, [&](const ProtocolField& field) {
    if (field.id != kPieces) return;
    Piece piece;
    for_each_field(field.bytes, [&](const ProtocolField& part) {
      if (part.id == kText) piece.text = part.bytes;
      if (part.id == kScore && part.bytes.size() == sizeof piece.score)
        std::memcpy(&piece.score, part.bytes.data(), sizeof piece.score);
      if (part.id == kType) piece.type = static_cast<PieceType>(part.number);
    });
    pieces.push_back(std::move(piece));
  });
  if (!complete || pieces.empty()) throw Error(name + ": not a SentencePiece model, or damaged; fetch it again");
  return pieces;
}

}  // namespace nmt
