#include "text/sentencepiece/protocol_buffer.h"

#include <cstring>

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
  field = {.id = key >> 3, .number = 0, .bytes = {}, .whole = {}};
  switch (key & 7) {
    case 0:
      if (!take_number(bytes, field.number)) return false;
      break;
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
  field.whole = begin.substr(0, begin.size() - bytes.size());
  return true;
}

void append_number(std::string& to, uint64_t number) {
  for (; number >= 0x80; number >>= 7) to += static_cast<char>(number | 0x80);
  to += static_cast<char>(number);
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

void append_number_field(std::string& to, uint64_t id, uint64_t number) {
  append_number(to, id << 3);
  append_number(to, number);
}

void append_bytes_field(std::string& to, uint64_t id, std::string_view bytes) {
  append_number(to, id << 3 | 2);
  append_number(to, bytes.size());
  to += bytes;
}

void append_float_field(std::string& to, uint64_t id, float value) {
  append_number(to, id << 3 | 5);
  char bytes[sizeof value];
  std::memcpy(bytes, &value, sizeof value);
  to.append(bytes, sizeof bytes);
}

}  // namespace nmt
