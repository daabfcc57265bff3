#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/files/file_descriptor.h"
#include "base/files/line_reader.h"
#include "base/files/mapped_file.h"

namespace nmt {

/// SHA-256 in hexadecimal, as sha256sum prints it.
class Sha256 {
 public:
  Sha256();
  ~Sha256();
  Sha256(const Sha256&) = delete;
  Sha256& operator=(const Sha256&) = delete;
  void add(std::string_view bytes);
  std::string hex();  ///< ends the sum: nothing may be added, nor hex() be called, after it

 private:
  struct State;
  std::unique_ptr<State> state_;
};

std::string sha256_of_file(const std::filesystem::path& path);  ///< throws Error if it can't be read
std::string sha256_of_bytes(std::string_view bytes);

/// The whole file as bytes. Throws Error if it can't be read, or holds more bytes than `max_bytes`.
std::string read_file(const std::filesystem::path& path, size_t max_bytes = SIZE_MAX);

/// The same of a regular file alone (open_regular_file).
std::string read_regular_file(const std::filesystem::path& path, size_t max_bytes);

/// Writes the whole file: beside it first, synced, then renamed, so that a reader finds the old or the new, never half.
/// Throws MachineError if the disk refuses, Error for a path that can't be written to (see AtomicFile).
void write_file_atomically(const std::filesystem::path& path, std::string_view bytes);

/// Throws what AtomicFile would, before the work whose result goes to `path`; nothing is left behind.
void check_writable(const std::filesystem::path& path);

/// A file in the making: bytes go to a file without a name in the folder of PATH (where the file system has none:
/// PATH.XXXXXX.partial, made for this object); commit() syncs and renames. Without commit() nothing is left behind.
/// Where PATH is a symbolic link, the file it points to is replaced and the link stays. A replaced file hands its mode
/// on.
class AtomicFile {
 public:
  /// Throws Error if the folder does not exist or may not be written to, or if PATH is a folder or a device;
  /// MachineError for what else the system refuses.
  /// key: of what the bytes are a function of. After keep() they stay as PATH.KEY.partial without commit(), too, and
  /// the next object with this key begins with them.
  explicit AtomicFile(std::filesystem::path path, std::string_view key = {});
  ~AtomicFile();
  AtomicFile(const AtomicFile&) = delete;
  AtomicFile& operator=(const AtomicFile&) = delete;
  void write(std::string_view bytes);             ///< buffered; throws MachineError (disk full)
  int64_t position() const { return position_; }  ///< bytes written so far
  /// Hands all that was written to the system, and lets it stay. Does nothing without a key, where another process has
  /// the same one, and where the file system refuses the name. Throws MachineError (disk full).
  void keep();
  /// Cuts off what stands behind the first `most` whole lines; returns how many these are. Call before write().
  int64_t cut_to_lines(int64_t most);
  const std::filesystem::path& kept() const { return is_kept_ ? partial_ : kNone; }  ///< empty: nothing would stay
  void commit();  ///< throws MachineError; the last call

 private:
  static inline const std::filesystem::path kNone = {};
  [[noreturn]] void fail() const;
  FileDescriptor open_kept();
  std::filesystem::path path_, kept_name_;
  bool is_kept_ = false;
  std::filesystem::path partial_;  ///< empty where the file has no name
  std::vector<char> buffer_;
  std::FILE* file_ = nullptr;
  int64_t position_ = 0;
};

/// Syncs a folder, so that names made or renamed in it survive a power cut. Throws MachineError.
void sync_directory(const std::filesystem::path& directory);

}  // namespace nmt
