#pragma once

#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace nmt {

/// The whole file as bytes. Throws Error if it can't be read.
std::string read_file(const std::filesystem::path& path);

/// Writes the whole file: beside it first, synced, then renamed, so that a reader finds the old or the new, never half.
/// Throws MachineError if the disk refuses.
void write_file_atomically(const std::filesystem::path& path, std::string_view bytes);

/// A file in the making: bytes go to PATH.partial; commit() syncs and renames. Without commit() nothing is left behind.
class AtomicFile {
 public:
  explicit AtomicFile(std::filesystem::path path);  ///< throws MachineError, or Error if the folder does not exist
  ~AtomicFile();
  AtomicFile(const AtomicFile&) = delete;
  AtomicFile& operator=(const AtomicFile&) = delete;
  void write(std::string_view bytes);  ///< buffered; throws MachineError (disk full)
  int64_t position() const { return position_; }
  void commit();

 private:
  std::filesystem::path path_, partial_;
  std::FILE* file_ = nullptr;
  int64_t position_ = 0;
};

/// Syncs a folder, so that names made or renamed in it survive a power cut. Throws MachineError.
void sync_directory(const std::filesystem::path& directory);

/// A read-only mapping of a whole file. Throws Error if it can't be opened.
class MappedFile {
 public:
  explicit MappedFile(const std::filesystem::path& path);
  ~MappedFile();
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;
  std::span<const std::byte> bytes() const { return {data_, size_}; }

 private:
  const std::byte* data_ = nullptr;
  size_t size_ = 0;
};

/// Reads lines, split at \n only, of a plain or gzip file (told by content, not by name) or of standard input ("-").
/// A last line without \n counts; a \r before the \n is kept (the caller decides). Lines may hold any bytes.
class LineReader {
 public:
  explicit LineReader(const std::filesystem::path& path);  ///< throws Error: no such file, a folder, not readable
  ~LineReader();
  LineReader(LineReader&&) noexcept;
  /// The next line without its \n, valid until the next call; nullopt at the end.
  /// Throws Error for a damaged gzip file ("FILE: damaged gzip after line N").
  std::optional<std::string_view> next();
  int64_t line_number() const;  ///< of the line returned last, from 1
  const std::filesystem::path& path() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// SHA-256 in hexadecimal, as sha256sum prints it.
class Sha256 {
 public:
  Sha256();
  ~Sha256();
  Sha256(const Sha256&) = delete;
  Sha256& operator=(const Sha256&) = delete;
  void add(std::string_view bytes);
  std::string hex();  ///< ends the sum

 private:
  struct State;
  std::unique_ptr<State> state_;
};
std::string sha256_of_file(const std::filesystem::path& path);
std::string sha256_of_bytes(std::string_view bytes);

}  // namespace nmt
