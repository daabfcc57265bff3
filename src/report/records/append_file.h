#pragma once

#include <cstdint>
#include <filesystem>
#include <string_view>

#include "base/files/file_descriptor.h"

namespace nmt {

/// A file that only grows, a record at a time, while others may read it: a log of a run.
class AppendFile {
 public:
  /// Opens it, or makes it and its folder. Throws MachineError if it can't be written to.
  explicit AppendFile(std::filesystem::path path);
  /// Writes all of it or, where the disk refuses, nothing: then MachineError.
  void write(std::string_view record);
  void truncate(int64_t size);            ///< in bytes; throws MachineError
  int64_t size() const { return size_; }  ///< in bytes

 private:
  [[noreturn]] void fail(int reason) const;
  std::filesystem::path path_;
  FileDescriptor file_;
  int64_t size_ = 0;
};

}  // namespace nmt
