#include "text/sentencepiece_settings.h"

#include <cstdint>
#include <functional>

namespace nmt {
namespace {

// Numbers of sentencepiece_model.proto.
constexpr uint64_t kTrainerSpec = 2, kNormalizerSpec = 3;                                     // of the model
constexpr uint64_t kModelType = 3, kTreatWhitespaceAsSuffix = 24;                             // of the trainer
constexpr uint64_t kAddDummyPrefix = 3, kRemoveExtraWhitespaces = 4, kEscapeWhitespaces = 5;  // of the normaliser
constexpr uint64_t kBpe = 2;                                                                  // of the model types

/// A field of a protocol buffer: a number, or bytes.
struct Field {
  uint64_t id = 0, number = 0;
  std::string_view bytes;
};

/// Takes a number of seven bits a byte; false at the end.
bool take_number(std::string_view& bytes, uint64_t& number) {
  number = 0;
  for (int shift = 0; shift < 64 && !bytes.empty(); shift += 7) {
    const auto byte = static_cast<uint8_t>(bytes.front());
    bytes.remove_prefix(1);
    number |= static_cast<uint64_t>(byte & 0x7F) << shift;
    if (byte < 0x80) return true;
  }
  return false;
}

/// Takes one field; false at the end and at what is not of the format.
bool take_field(std::string_view& bytes, Field& field) {
  uint64_t key = 0, length = 0;
  if (!take_number(bytes, key)) return false;
  field = {.id = key >> 3, .number = 0, .bytes = {}};
  switch (key & 7) {
    case 0:
      return take_number(bytes, field.number);
    case 1:
      length = 8;
      break;
    case 2:
      if (!take_number(bytes, length)) return false;
      break;
    case 5:
      length = 4;
      break;
    default:
      return false;
  }
  if (length > bytes.size()) return false;
  field.bytes = bytes.substr(0, length);
  bytes.remove_prefix(length);
  return true;
}

void for_each_field(std::string_view bytes, const std::function<void(const Field&)>& body) {
  for (Field field; take_field(bytes, field);) body(field);
}

}  // namespace

SentencePieceSettings read_sentencepiece_settings(std::string_view serialized) {
  SentencePieceSettings settings;
  const auto of_trainer = [&](const Field& field) {
    if (field.id == kModelType) settings.is_bpe = field.number == kBpe;
    if (field.id == kTreatWhitespaceAsSuffix) settings.treat_whitespace_as_suffix = field.number != 0;
  };
  const auto of_normalizer = [&](const Field& field) {
    if (field.id == kAddDummyPrefix) settings.add_dummy_prefix = field.number != 0;
    if (field.id == kRemoveExtraWhitespaces) settings.remove_extra_whitespaces = field.number != 0;
    if (field.id == kEscapeWhitespaces) settings.escape_whitespaces = field.number != 0;
  };
  for_each_field(serialized, [&](const Field& field) {
    if (field.id == kTrainerSpec) for_each_field(field.bytes, of_trainer);
    if (field.id == kNormalizerSpec) for_each_field(field.bytes, of_normalizer);
  });
  return settings;
}

}  // namespace nmt
