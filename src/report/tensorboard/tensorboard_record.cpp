#include "report/tensorboard/tensorboard_record.h"

#include <cstdint>

#include "report/tensorboard/crc32c.h"

namespace nmt {
namespace {

constexpr size_t kLengthBytes = 8, kChecksumBytes = 4;

// A checksum of bytes that hold their own checksum would tell little: the format turns and shifts each one.
uint32_t masked_crc32c(std::string_view bytes) {
  const uint32_t crc = crc32c(bytes);
  return ((crc >> 15) | (crc << 17)) + 0xa282ead8u;
}

void append_little_endian(std::string& out, uint64_t value, size_t bytes) {
  for (size_t i = 0; i < bytes; ++i) out += static_cast<char>(value >> (8 * i) & 0xFF);
}

uint64_t read_little_endian(std::string_view bytes) {
  uint64_t value = 0;
  for (size_t i = 0; i < bytes.size(); ++i) value |= uint64_t{static_cast<uint8_t>(bytes[i])} << (8 * i);
  return value;
}

}  // namespace

std::string frame_record(std::string_view bytes) {
  std::string record;
  append_little_endian(record, bytes.size(), kLengthBytes);
  append_little_endian(record, masked_crc32c(record), kChecksumBytes);
  record += bytes;
  append_little_endian(record, masked_crc32c(bytes), kChecksumBytes);
  return record;
}

std::optional<std::string_view> RecordReader::next() {
  for (size_t behind = position_;;) {
    std::string_view rest = file_.substr(behind);
    if (rest.size() < kLengthBytes + 2 * kChecksumBytes) return std::nullopt;
    const auto length_bytes = rest.substr(0, kLengthBytes);
    const uint64_t length = read_little_endian(length_bytes);
    const auto checksum = rest.substr(kLengthBytes, kChecksumBytes);
    if (read_little_endian(checksum) != masked_crc32c(length_bytes)) return std::nullopt;
    rest.remove_prefix(kLengthBytes + kChecksumBytes);
    if (length > rest.size() - kChecksumBytes) return std::nullopt;
    const auto bytes = rest.substr(0, length);
    behind += kLengthBytes + 2 * kChecksumBytes + length;
    if (read_little_endian(rest.substr(length, kChecksumBytes)) != masked_crc32c(bytes)) continue;
    position_ = behind;
    return bytes;
  }
}

}  // namespace nmt
