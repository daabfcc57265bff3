#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/files/file_descriptor.h"
#include "base/files/zip_directory.h"

namespace nmt {

/// Why a packed stream cannot be read on; LineReader adds file and line.
struct DamagedStream {
  std::string_view format;  ///< "gzip"
  std::string why;
};

/// The bytes of a descriptor, some of them read ahead. A help for the bodies of base.
class InputBytes {
 public:
  /// most: so many bytes are read, where the file has them.
  InputBytes(FileDescriptor file, std::string name, uint64_t most = UINT64_MAX);
  std::string_view ahead() const { return {buffer_.data() + begin_, end_ - begin_}; }  ///< read and not taken yet
  void take(size_t bytes) { begin_ += bytes; }
  bool refill();                              ///< reads more behind what is ahead; false at the end
  size_t read(char* bytes, size_t capacity);  ///< what is ahead, else what one read(2) brings; 0 at the end
  /// Whether the bytes ahead begin with `magic`, in which a question mark stands for any byte. Each byte is waited for
  /// only where those before it agree: a terminal may send one.
  bool begins_with(std::string_view magic);
  bool wait(int milliseconds) const { return wait_for_input(file_.number(), milliseconds); }
  const std::string& name() const { return name_; }

 private:
  size_t read_file(char* bytes, size_t capacity);

  FileDescriptor file_;
  std::string name_;
  uint64_t left_;  // to be read from the file
  std::vector<char> buffer_;
  size_t begin_ = 0, end_ = 0;
};

/// A packed stream, unpacked as it comes.
class Unpacker {
 public:
  virtual ~Unpacker() = default;
  /// Up to `capacity` bytes, as soon as there are any; 0 at the end. Throws DamagedStream, after what came before it is
  /// handed out.
  virtual size_t read(char* bytes, size_t capacity) = 0;
};

/// The bytes of a descriptor, unpacked where they are gzip or zstd, or those of a zip archive's member.
class ByteSource {
 public:
  ByteSource(FileDescriptor file, std::string name, bool refuses_foreign_bytes)
      : input_(std::move(file), std::move(name)), refuses_foreign_bytes_(refuses_foreign_bytes) {}
  /// The archive stands where the member's packed bytes begin. Throws Error for a member that is encrypted, or packed
  /// by other means than deflate.
  ByteSource(FileDescriptor archive, std::string name, const ZipMember& member);
  ByteSource(const ByteSource&) = delete;
  /// The same as Unpacker::read; also throws Error for foreign bytes.
  size_t read(char* bytes, size_t capacity);
  /// True if read() need not wait, or does so for the rest of a packed block only.
  bool ready(int milliseconds) const { return unpacker_ || !input_.ahead().empty() || input_.wait(milliseconds); }

 private:
  void start();

  InputBytes input_;
  bool refuses_foreign_bytes_ = false;
  bool started_ = false;
  std::unique_ptr<Unpacker> unpacker_;  // none: the bytes are plain
};

}  // namespace nmt
