#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string_view>

namespace nmt {

/// Reads lines, split at \n only, of a plain or gzip file (told by content, not by name) or of standard input ("-").
/// A last line without \n counts; a \r before the \n is kept (the caller decides). Lines may hold any bytes and be of
/// any length that fits in memory. A gzip file may be of several members, one after the other.
class LineReader {
 public:
  explicit LineReader(const std::filesystem::path& path);  ///< throws Error: no such file, a folder, not readable
  ~LineReader();
  LineReader(LineReader&&) noexcept;
  LineReader& operator=(LineReader&&) noexcept;
  /// The next line without its \n, valid until the next call; nullopt at the end.
  /// Throws Error for a damaged gzip file ("FILE: damaged gzip after line N (why); ..."), MachineError if the disk
  /// fails.
  std::optional<std::string_view> next();
  /// Waits up to so many milliseconds (-1: as long as it takes) until next() would return without waiting for a pipe or
  /// terminal; false if the time passed or a signal came. Throws as next() does.
  bool ready(int milliseconds);
  bool at_unended_line() const;  ///< the line returned last is the file's last and has no \n
  int64_t line_number() const;   ///< of the line returned last, from 1; 0 before the first
  const std::filesystem::path& path() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace nmt
