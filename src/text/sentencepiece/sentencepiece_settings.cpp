#include "text/sentencepiece/sentencepiece_settings.h"

#include <cstdint>

#include "base/files/protocol_buffer.h"

namespace nmt {
namespace {

// Numbers of sentencepiece_model.proto.
constexpr uint64_t kTrainerSpec = 2, kNormalizerSpec = 3;                                     // of the model
constexpr uint64_t kModelType = 3, kTreatWhitespaceAsSuffix = 24;                             // of the trainer
constexpr uint64_t kAddDummyPrefix = 3, kRemoveExtraWhitespaces = 4, kEscapeWhitespaces = 5;  // of the normaliser
constexpr uint64_t kBpe = 2;                                                                  // of the model types

}  // namespace

SentencePieceSettings read_sentencepiece_settings(std::string_view serialized) {
  SentencePieceSettings settings;
  const auto of_trainer = [&](const ProtocolField& field) {
    if (field.id == kModelType) settings.is_bpe = field.number == kBpe;
    if (field.id == kTreatWhitespaceAsSuffix) settings.treat_whitespace_as_suffix = field.number != 0;
  };
  const auto of_normalizer = [&](const ProtocolField& field) {
    if (field.id == kAddDummyPrefix) settings.add_dummy_prefix = field.number != 0;
    if (field.id == kRemoveExtraWhitespaces) settings.remove_extra_whitespaces = field.number != 0;
    if (field.id == kEscapeWhitespaces) settings.escape_whitespaces = field.number != 0;
  };
  for_each_field(serialized, [&](const ProtocolField& field) {
    if (field.id == kTrainerSpec) for_each_field(field.bytes, of_trainer);
    if (field.id == kNormalizerSpec) for_each_field(field.bytes, of_normalizer);
  });
  return settings;
}

}  // namespace nmt
