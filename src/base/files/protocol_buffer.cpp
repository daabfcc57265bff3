#include "base/files/protocol_buffer.h"

#include <bit>

namespace nmt {
namespace {

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
bool take_field(std::string_view& bytes, ProtocolField& field) {
  const std::string_view begin = bytes;
  uint64_t key = 0, length = 0;
  if (!take_number(bytes, key)) return false;
  field = {.id = key >> 3, .type = static_cast<WireType>(key & 7)};
  switch (field.type) {
    case WireType::kNumber:
      if (!take_number(bytes, field.number)) return false;
      break;
    case WireType::kFixed64:
      length = 8;
      break;
    case WireType::kBytes:
      if (!take_number(bytes, length)) return false;
      break;
    case WireType::kFixed32:
      length = 4;
      break;
    default:
      return false;
  }
  if (length > bytes.size()) return false;
  field.bytes = bytes.substr(0, length);
  bytes.remove_prefix(length);
  field.whole = begin.substr(0, begin.size() - bytes.size());
  return true;
}

}  // namespace

bool for_each_field(std::string_view bytes, const std::function<void(const ProtocolField&)>& body) {
  while (!bytes.empty()) {
    ProtocolField field;
    if (!take_field(bytes, field)) return false;
    body(field);
  }
  return true;
}

ProtocolMessage& ProtocolMessage::number(uint64_t id, uint64_t value) {
  key(id, WireType::kNumber);
  varint(value);
  return *this;
}

ProtocolMessage& ProtocolMessage::real64(uint64_t id, double value) {
  key(id, WireType::kFixed64);
  fixed(std::bit_cast<uint64_t>(value), 8);
  return *this;
}

ProtocolMessage& ProtocolMessage::real32(uint64_t id, float value) {
  key(id, WireType::kFixed32);
  fixed(std::bit_cast<uint32_t>(value), 4);
  return *this;
}

ProtocolMessage& ProtocolMessage::bytes(uint64_t id, std::string_view value) {
  key(id, WireType::kBytes);
  varint(value.size());
  encoded_ += value;
  return *this;
}

ProtocolMessage& ProtocolMessage::packed(uint64_t id, std::span<const double> values) {
  ProtocolMessage numbers;
  for (const double value : values) numbers.fixed(std::bit_cast<uint64_t>(value), 8);
  return message(id, numbers);
}

ProtocolMessage& ProtocolMessage::copy(const ProtocolField& field) {
  encoded_ += field.whole;
  return *this;
}

void ProtocolMessage::key(uint64_t id, WireType type) { varint(id << 3 | static_cast<uint64_t>(type)); }

void ProtocolMessage::varint(uint64_t value) {
  for (; value >= 0x80; value >>= 7) encoded_ += static_cast<char>(value | 0x80);
  encoded_ += static_cast<char>(value);
}

void ProtocolMessage::fixed(uint64_t value, int size) {
  for (int i = 0; i < size; ++i) encoded_ += static_cast<char>(value >> (8 * i) & 0xFF);
}

}  // namespace nmt
