#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace nmt {

/// A record of TensorBoard's event files (the TFRecord format): u64 length, u32 masked CRC-32C of the length, the
/// bytes, u32 masked CRC-32C of the bytes; all little-endian.
std::string frame_record(std::string_view bytes);

/// Reads the records of a file that is in memory.
class RecordReader {
 public:
  explicit RecordReader(std::string_view file) : file_(file) {}
  /// The next record; nullopt at the end and where the next one is not whole, or its length has another checksum. One
  /// whose bytes are damaged is passed over.
  std::optional<std::string_view> next();
  size_t position() const { return position_; }  ///< behind the record returned last, in bytes

 private:
  std::string_view file_;
  size_t position_ = 0;
};

}  // namespace nmt
