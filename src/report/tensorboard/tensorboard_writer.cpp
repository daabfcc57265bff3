#include "report/tensorboard/tensorboard_writer.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <chrono>
#include <cstdint>
#include <vector>

#include "base/files/file.h"

namespace nmt {
namespace {

constexpr uint32_t kPolynomial = 0x82F63B78;  // 0x1EDC6F41 with its bits reversed

/// The remainder of each byte.
constexpr std::array<uint32_t, 256> make_table() {
  std::array<uint32_t, 256> table{};
  for (uint32_t byte = 0; byte < table.size(); ++byte) {
    uint32_t remainder = byte;
    for (int bit = 0; bit < 8; ++bit) remainder = (remainder >> 1) ^ ((remainder & 1) ? kPolynomial : 0);
    table[byte] = remainder;
  }
  return table;
}

constexpr auto kTable = make_table();

}  // namespace

uint32_t crc32c(std::string_view bytes) {
  uint32_t crc = 0xFFFFFFFF;
  for (const char byte : bytes) crc = (crc >> 8) ^ kTable[(crc ^ static_cast<uint8_t>(byte)) & 0xFF];
  return ~crc;
}

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

namespace {

constexpr std::string_view kPrefix = "events.out.tfevents.";

double seconds_since_1970() {
  return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
}

std::vector<std::filesystem::path> event_files(const std::filesystem::path& directory) {
  std::vector<std::filesystem::path> files;
  if (!std::filesystem::exists(directory)) return files;
  for (const auto& entry : std::filesystem::directory_iterator(directory)) {
    if (entry.is_regular_file() && entry.path().filename().string().starts_with(kPrefix)) files.push_back(entry.path());
  }
  return files;
}

std::string host_name() {
  std::array<char, 256> name{};
  if (::gethostname(name.data(), name.size() - 1) != 0 || name.front() == '\0') return "localhost";
  return name.data();
}

/// The order of the names is the order of reading: later than those of sessions a moment ago.
std::filesystem::path new_event_file(const std::filesystem::path& directory) {
  auto seconds = static_cast<int64_t>(seconds_since_1970());
  for (const auto& file : event_files(directory)) {
    const std::string name = file.filename().string();
    int64_t other = 0;
    std::from_chars(name.data() + kPrefix.size(), name.data() + name.size(), other);
    seconds = std::max(seconds, other + 1);
  }
  return directory / fmt::format("{}{:010}.{}", kPrefix, seconds, host_name());
}

}  // namespace

TensorBoardWriter::TensorBoardWriter(const std::filesystem::path& directory) : file_(new_event_file(directory)) {
  write(encode_file_version(seconds_since_1970()));
}

EventTime now_at(int64_t step) { return {.wall_time = seconds_since_1970(), .step = step}; }

void TensorBoardWriter::write(std::string_view event) { file_.write(frame_record(event)); }

void truncate_event_files_after(const std::filesystem::path& directory, int64_t step) {
  for (const auto& path : event_files(directory)) {
    const std::string bytes = read_file(path);
    RecordReader reader(bytes);
    size_t kept = 0;
    int64_t records = 0;
    while (const auto event = reader.next()) {
      const auto of_event = step_of_event(*event);
      if (!of_event || *of_event > step) break;
      kept = reader.position();
      ++records;
    }
    if (records <= 1) {  // the version, which every file begins with
      std::filesystem::remove(path);
    } else if (kept < bytes.size()) {
      AppendFile(path).truncate(static_cast<int64_t>(kept));
    }
  }
}

std::string escape_markdown(std::string_view text) {
  std::string escaped;
  for (const char c : text) {
    if (std::string_view("\\`*_[]<>#|~").find(c) != std::string_view::npos) escaped += '\\';
    escaped += c;
  }
  return escaped;
}

}  // namespace nmt
