#include "convert/formats/sentencepiece_model.h"

#include <set>

#include "base/files/protocol_buffer.h"
#include "text/tokenizer.h"

namespace nmt::convert {
namespace {

// Numbers of sentencepiece_model.proto.
constexpr uint64_t kPieces = 1, kTrainerSpec = 2, kSelfTest = 4;                                   // of the model
constexpr uint64_t kText = 1, kScore = 2, kType = 3;                                               // of a piece
constexpr uint64_t kVocabularySize = 4, kUnknownId = 40, kBeginId = 41, kEndId = 42, kPadId = 43;  // of the trainer
constexpr uint64_t kUnknownPiece = 45, kBeginPiece = 46, kEndPiece = 47, kPadPiece = 48;

ProtocolMessage renumbered(std::string_view trainer, const std::vector<Piece>& pieces) {
  static const std::set<uint64_t> kReplaced{kVocabularySize, kUnknownId,  kBeginId,  kEndId,   kPadId,
                                            kUnknownPiece,   kBeginPiece, kEndPiece, kPadPiece};
  ProtocolMessage changed;
  for_each_field(trainer, [&](const ProtocolField& field) {
    if (!kReplaced.contains(field.id)) changed.copy(field);
  });
  changed.number(kVocabularySize, pieces.size());
  const std::pair<uint64_t, uint64_t> fields[] = {
      {kPadId, kPadPiece}, {kUnknownId, kUnknownPiece}, {kBeginId, kBeginPiece}, {kEndId, kEndPiece}};
  for (uint64_t id = 0; id < 4; ++id) {  // the order of SpecialIds
    changed.number(fields[id].first, id).bytes(fields[id].second, pieces[id].text);
  }
  return changed;
}

}  // namespace

std::string with_pieces(std::string_view serialized, const std::vector<Piece>& pieces) {
  ProtocolMessage changed;
  for (const auto& piece : pieces) {
    changed.message(kPieces, ProtocolMessage()
                                 .bytes(kText, piece.text)
                                 .real32(kScore, piece.score)
                                 .number(kType, static_cast<uint64_t>(piece.type)));
  }
  std::string_view trainer;
  for_each_field(serialized, [&](const ProtocolField& field) {
    if (field.id == kTrainerSpec)
      trainer = field.bytes;
    else if (field.id != kPieces && field.id != kSelfTest)
      changed.copy(field);
  });
  return changed.message(kTrainerSpec, renumbered(trainer, pieces)).encoded();
}

}  // namespace nmt::convert
