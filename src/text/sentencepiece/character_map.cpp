#include "text/sentencepiece/character_map.h"

#include <cstdint>
#include <cstring>

#include "base/files/protocol_buffer.h"

namespace nmt {
namespace {

// Numbers of sentencepiece_model.proto.
constexpr uint64_t kNormalizerField = 3, kDenormalizerField = 5;  // of the model
constexpr uint64_t kCharacterMap = 2;                             // of both

uint32_t number_at(std::string_view bytes, size_t at) {
  uint32_t number;
  std::memcpy(&number, bytes.data() + at, sizeof number);
  return number;
}

// u32 bytes of the double array, its units of 32 bits, texts. From unit i a step leads to (i ^ offset) ^ c, c a byte:
// to anywhere in one block of 256 units. A unit with its highest bit set is a value, where no step begins, but for the
// first one, where every walk begins.
bool is_sound(std::string_view map) {
  constexpr uint32_t kIsValue = 1u << 31, kIsLarge = 1u << 9;
  if (map.empty()) return true;
  if (map.size() < sizeof(uint32_t)) return false;
  const uint32_t bytes = number_at(map, 0);
  map.remove_prefix(sizeof(uint32_t));
  if (bytes > map.size() || bytes % sizeof(uint32_t) != 0) return false;
  const uint32_t units = bytes / sizeof(uint32_t);
  for (uint32_t i = 0; i < units; ++i) {
    const uint32_t unit = number_at(map, i * sizeof(uint32_t));
    if (i > 0 && (unit & kIsValue) != 0) continue;
    const uint32_t offset = (unit >> 10) << ((unit & kIsLarge) >> 6);
    if (((i ^ offset) | 0xFF) >= units) return false;
  }
  return true;
}

}  // namespace

// What is read otherwise here than by SentencePiece could hide a table: only what both read to the end is sound.
bool has_sound_character_maps(std::string_view serialized) {
  constexpr uint64_t kMaxId = (1 << 29) - 1;
  bool sound = true;
  const auto of_normalizer = [&](const ProtocolField& field) {
    sound = sound && field.id <= kMaxId && (field.id != kCharacterMap || is_sound(field.bytes));
  };
  const bool ends = for_each_field(serialized, [&](const ProtocolField& field) {
    sound = sound && field.id <= kMaxId;
    if (field.id == kNormalizerField || field.id == kDenormalizerField)
      sound = for_each_field(field.bytes, of_normalizer) && sound;
  });
  return ends && sound;
}

}  // namespace nmt
