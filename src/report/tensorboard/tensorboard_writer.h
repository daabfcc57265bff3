#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

#include "report/records/metrics_writer.h"
#include "report/tensorboard/tensorboard_event.h"

namespace nmt {

/// CRC-32C (Castagnoli; RFC 3720, appendix B.4): the checksum of TensorBoard's records.
uint32_t crc32c(std::string_view bytes);

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

/// An event of this moment at a step.
EventTime now_at(int64_t step);

/// Writes one event file, events.out.tfevents.SECONDS.HOST, flushed after every event. Throws MachineError.
class TensorBoardWriter {
 public:
  /// Makes a new file in the folder, named so that TensorBoard reads it after those that stand there.
  explicit TensorBoardWriter(const std::filesystem::path& directory);

  void write(std::string_view event);  ///< encoded (tensorboard_event.h)

 private:
  AppendFile file_;
};

/// Cuts the event files of a folder back to the events up to a step, and what a kill left half written. A file without
/// any of them is removed. Throws Error or MachineError for what cannot be read or written.
void truncate_event_files_after(const std::filesystem::path& directory, int64_t step);

/// The text so that Markdown shows it as it stands.
std::string escape_markdown(std::string_view text);

}  // namespace nmt
