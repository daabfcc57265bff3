#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string_view>

namespace nmt {

struct ZipMember;

/// The longest line that a reader keeps in memory, and what it does with a longer one.
struct LongestLine {
  enum class Beyond {
    kRefuse,  ///< next() throws Error "FILE:LINE: ..."
    kLeaveOut
  };
  size_t bytes = 16 << 20;  ///< without the \n
  Beyond beyond = Beyond::kRefuse;
};

/// What a reader does with a file that begins as no text does: packed by xz or bzip2, a zip archive, UTF-16.
enum class ForeignBytes { kRefuse, kRead };

/// Reads lines, split at \n only, of a plain, gzip or zstd file (told by content, not by name) or of standard input
/// ("-"). A last line without \n counts; a \r before the \n is kept (the caller decides). Lines may hold any bytes;
/// memory is at most a few times the longest line that is allowed, and of zstd its window, at most 128 MiB. A packed
/// file may be of several members or frames, one after the other.
class LineReader {
 public:
  /// Throws Error: no such file, a folder, not readable.
  explicit LineReader(const std::filesystem::path& path, LongestLine longest = {},
                      ForeignBytes foreign = ForeignBytes::kRefuse);
  /// The lines of a member of a zip archive; path() is that of the member, below the archive's. Throws Error also for a
  /// member that is encrypted, or packed by other means than deflate.
  LineReader(const std::filesystem::path& archive, const ZipMember& member);
  ~LineReader();
  LineReader(LineReader&&) noexcept;
  LineReader& operator=(LineReader&&) noexcept;
  /// The next line without its \n, valid until the next call; nullopt at the end.
  /// Throws Error for a damaged packed file ("FILE: damaged gzip after line N (why); ...") and for one that is no text
  /// ("FILE: is packed with xz; ..."), MachineError if the disk fails.
  std::optional<std::string_view> next();
  /// Waits up to so many milliseconds (-1: as long as it takes) until next() would return without waiting for a pipe or
  /// terminal; false if the time passed or a signal came. Throws as next() does.
  bool ready(int milliseconds);
  /// What next() will begin with, up to so many bytes, fewer only at the end of the file: for telling a form. Valid
  /// until the next call of another function. Waits, and throws, as next() does.
  std::string_view look_ahead(size_t bytes);
  bool is_cut() const;           ///< the line returned last was longer than allowed, and this is its beginning
  bool at_unended_line() const;  ///< the line returned last is the file's last and has no \n
  int64_t line_number() const;   ///< of the line returned last, from 1; 0 before the first
  const std::filesystem::path& path() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace nmt
