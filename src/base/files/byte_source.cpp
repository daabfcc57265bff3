#include "base/files/byte_source.h"

#include <fmt/format.h>
#include <zlib.h>
#include <zstd.h>
#include <zstd_errors.h>

#include <algorithm>
#include <array>
#include <cstring>

#include "base/error.h"

namespace nmt {
namespace {

using namespace std::string_view_literals;

constexpr size_t kInputSize = 64 << 10;
constexpr auto kGzipMagic = "\x1f\x8b"sv;
// A frame, and a skippable one, with which pzstd's files begin.
constexpr std::array kZstdMagics = {"\x28\xB5\x2F\xFD"sv, "P\x2A\x4D\x18"sv};

struct ForeignFormat {
  std::string_view magic, what, advice;
};
constexpr std::array kForeignFormats = {
    ForeignFormat{"\xFD"
                  "7zXZ"sv,
                  "packed with xz", "unpack it (xz -d)"},
    ForeignFormat{"BZh?1AY"sv, "packed with bzip2", "unpack it (bzip2 -d)"},
    ForeignFormat{"PK\x03\x04"sv, "a zip archive", "unpack it"},
    ForeignFormat{"\xFF\xFE"sv, "UTF-16", "convert it (iconv -f UTF-16 -t UTF-8)"},
    ForeignFormat{"\xFE\xFF"sv, "UTF-16", "convert it (iconv -f UTF-16 -t UTF-8)"},
};

/// Whether bytes are the first ones of the magic, all that both have.
bool agree(std::string_view bytes, std::string_view magic) {
  const size_t both = std::min(bytes.size(), magic.size());
  return std::equal(magic.begin(), magic.begin() + both, bytes.begin(),
                    [](char wanted, char found) { return wanted == '?' || wanted == found; });
}

/// A stream of deflate, with the header of gzip or with none.
class Inflater {
 public:
  /// window_bits: as zlib's inflateInit2 has it.
  Inflater(InputBytes& input, int window_bits, std::string_view format) : input_(input), format_(format) {
    if (inflateInit2(&stream_, window_bits) != Z_OK) throw_out_of_memory();
  }
  ~Inflater() { inflateEnd(&stream_); }
  Inflater(const Inflater&) = delete;

  /// Up to `capacity` bytes; 0 at the end of the stream. Throws DamagedStream.
  size_t read(char* bytes, size_t capacity) {
    stream_.next_out = reinterpret_cast<Bytef*>(bytes);
    stream_.avail_out = static_cast<uInt>(std::min<size_t>(capacity, 1 << 30));
    const uInt room = stream_.avail_out;
    while (stream_.avail_out == room && !ended_) {
      if (input_.ahead().empty() && !input_.refill()) throw DamagedStream{format_, "it ends too early"};
      const std::string_view ahead = input_.ahead();
      stream_.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(ahead.data()));
      stream_.avail_in = static_cast<uInt>(ahead.size());
      const int result = inflate(&stream_, Z_NO_FLUSH);
      input_.take(ahead.size() - stream_.avail_in);
      if (result == Z_STREAM_END) {
        ended_ = true;
      } else if (result == Z_MEM_ERROR) {
        throw_out_of_memory();
      } else if (result != Z_OK && result != Z_BUF_ERROR && stream_.avail_out == room) {
        throw DamagedStream{format_, stream_.msg ? stream_.msg : "invalid data"};
      }
    }
    return room - stream_.avail_out;
  }
  /// Continues with the stream that follows.
  void restart() {
    inflateReset(&stream_);
    ended_ = false;
  }

 private:
  [[noreturn]] void throw_out_of_memory() const {
    throw MachineError(fmt::format("{}: out of memory for {}", input_.name(), format_));
  }

  InputBytes& input_;
  std::string_view format_;
  z_stream stream_{};
  bool ended_ = false;
};

class GzipUnpacker final : public Unpacker {
 public:
  // 15: the largest window; +16: a gzip header and checksum.
  explicit GzipUnpacker(InputBytes& input) : input_(input), stream_(input, 15 + 16, "gzip") {}

  size_t read(char* bytes, size_t capacity) override {
    do {
      if (const size_t count = stream_.read(bytes, capacity)) return count;
    } while (next_member());
    return 0;
  }

 private:
  /// Continues with the member that follows; false at the end of the file. Zero bytes may pad the end, as of tapes.
  bool next_member() {
    if (input_.begins_with(kGzipMagic)) {
      stream_.restart();
      return true;
    }
    do {
      if (input_.ahead().find_first_not_of('\0') != std::string_view::npos)
        throw DamagedStream{"gzip", "what follows the packed data is not gzip"};
      input_.take(input_.ahead().size());
    } while (input_.refill());
    return false;
  }

  InputBytes& input_;
  Inflater stream_;
};

/// A member of a zip archive, whose input ends with its packed bytes.
class ZipUnpacker final : public Unpacker {
 public:
  // -15: the largest window, no header.
  ZipUnpacker(InputBytes& input, ZipMember member)
      : input_(input), member_(std::move(member)), stream_(input, -15, "zip archive") {}

  size_t read(char* bytes, size_t capacity) override {
    const size_t count =
        member_.method == ZipMember::kStored ? input_.read(bytes, capacity) : stream_.read(bytes, capacity);
    checksum_ = static_cast<uint32_t>(crc32_z(checksum_, reinterpret_cast<const Bytef*>(bytes), count));
    bytes_ += count;
    if (count == 0 && (bytes_ != member_.bytes || checksum_ != member_.checksum))
      throw DamagedStream{"zip archive", "length or checksum are not what its directory says"};
    return count;
  }

 private:
  InputBytes& input_;
  const ZipMember member_;
  Inflater stream_;
  uint64_t bytes_ = 0;
  uint32_t checksum_ = 0;
};

/// Frames of zstd, one after the other.
class ZstdUnpacker final : public Unpacker {
 public:
  explicit ZstdUnpacker(InputBytes& input) : input_(input), stream_(ZSTD_createDStream(), ZSTD_freeDStream) {
    if (!stream_) throw MachineError(input.name() + ": out of memory for zstd");
  }

  size_t read(char* bytes, size_t capacity) override {
    ZSTD_outBuffer out{bytes, capacity, 0};
    while (out.pos == 0) {
      if (!holds_text_ && input_.ahead().empty() && !input_.refill()) {
        if (frame_ended_) return 0;
        throw DamagedStream{"zstd", "it ends too early"};
      }
      ZSTD_inBuffer in{input_.ahead().data(), input_.ahead().size(), 0};
      const size_t result = ZSTD_decompressStream(stream_.get(), &out, &in);
      if (ZSTD_isError(result)) refuse(result);
      input_.take(in.pos);
      frame_ended_ = result == 0;
      holds_text_ = !frame_ended_ && out.pos == out.size;
    }
    return out.pos;
  }

 private:
  [[noreturn]] void refuse(size_t result) const {
    switch (ZSTD_getErrorCode(result)) {
      case ZSTD_error_memory_allocation:
        throw MachineError(input_.name() + ": out of memory for zstd");
      case ZSTD_error_frameParameter_windowTooLarge:
        throw Error(input_.name() + ": zstd's window is larger than 128 MiB; unpack it first (zstd -d --long=31)");
      default:
        throw DamagedStream{"zstd", ZSTD_getErrorName(result)};
    }
  }

  InputBytes& input_;
  std::unique_ptr<ZSTD_DStream, decltype(&ZSTD_freeDStream)> stream_;
  bool frame_ended_ = false;
  bool holds_text_ = false;  // there may be more than the last call took
};

}  // namespace

InputBytes::InputBytes(FileDescriptor file, std::string name, uint64_t most)
    : file_(std::move(file)), name_(std::move(name)), left_(most), buffer_(kInputSize) {}

size_t InputBytes::read_file(char* bytes, size_t capacity) {
  capacity = static_cast<size_t>(std::min<uint64_t>(capacity, left_));
  const size_t count = capacity > 0 ? read_some(file_.number(), bytes, capacity, name_) : 0;
  left_ -= count;
  return count;
}

bool InputBytes::refill() {
  const size_t kept = end_ - begin_;
  std::memmove(buffer_.data(), buffer_.data() + begin_, kept);
  const size_t count = read_file(buffer_.data() + kept, buffer_.size() - kept);
  begin_ = 0;
  end_ = kept + count;
  return count > 0;
}

size_t InputBytes::read(char* bytes, size_t capacity) {
  if (ahead().empty()) return read_file(bytes, capacity);
  const size_t count = ahead().copy(bytes, capacity);
  take(count);
  return count;
}

bool InputBytes::begins_with(std::string_view magic) {
  while (ahead().size() < magic.size() && agree(ahead(), magic))
    if (!refill()) return false;
  return agree(ahead(), magic);
}

ByteSource::ByteSource(FileDescriptor archive, std::string name, const ZipMember& member)
    : input_(std::move(archive), std::move(name), member.packed_bytes), started_(true) {
  if (member.is_encrypted || (member.method != ZipMember::kStored && member.method != ZipMember::kDeflated))
    throw Error(fmt::format("{}: is {}; unpack it first", input_.name(),
                            member.is_encrypted ? "encrypted" : "packed by other means than deflate"));
  unpacker_ = std::make_unique<ZipUnpacker>(input_, member);
}

void ByteSource::start() {
  started_ = true;
  while (!input_.wait(-1)) {  // for the writer of a named pipe
  }
  if (input_.begins_with(kGzipMagic)) {
    unpacker_ = std::make_unique<GzipUnpacker>(input_);
  } else if (std::ranges::any_of(kZstdMagics, [&](auto magic) { return input_.begins_with(magic); })) {
    unpacker_ = std::make_unique<ZstdUnpacker>(input_);
  } else if (refuses_foreign_bytes_) {
    for (const auto& [magic, what, advice] : kForeignFormats)
      if (input_.begins_with(magic))
        throw Error(
            fmt::format("{}: is {}; {} first (plain UTF-8 text, gzip and zstd are read)", input_.name(), what, advice));
  }
}

size_t ByteSource::read(char* bytes, size_t capacity) {
  if (!started_) start();
  return unpacker_ ? unpacker_->read(bytes, capacity) : input_.read(bytes, capacity);
}

}  // namespace nmt
