#include "base/files/line_reader.h"

#include <fmt/format.h>
#include <unistd.h>
#include <zlib.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "base/files/file_descriptor.h"

namespace nmt {
namespace {

using namespace std::string_view_literals;

constexpr size_t kInputSize = 64 << 10;
constexpr size_t kLineBuffer = 128 << 10;  // at first; larger ones cost a short run of nmt-score more than they save
constexpr unsigned char kGzipMagic[2] = {0x1f, 0x8b};

// A question mark stands for any byte.
struct ForeignFormat {
  std::string_view magic, what, advice;
};
constexpr std::array kForeignFormats = {
    ForeignFormat{"\xFD"
                  "7zXZ"sv,
                  "packed with xz", "unpack it (xz -d)"},
    ForeignFormat{"BZh?1AY"sv, "packed with bzip2", "unpack it (bzip2 -d)"},
    ForeignFormat{"\x28\xB5\x2F\xFD"sv, "packed with zstd", "unpack it (zstd -d)"},
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

/// Why a gzip stream cannot be read on; LineReader adds file and line.
struct DamagedGzip {
  const char* why;
};

/// The bytes of a descriptor, unpacked where they are gzip.
class ByteSource {
 public:
  ByteSource(FileDescriptor file, std::string name, ForeignBytes foreign)
      : file_(std::move(file)), name_(std::move(name)), foreign_(foreign), input_(kInputSize) {}
  ~ByteSource() {
    if (gzip_) inflateEnd(&stream_);
  }
  ByteSource(const ByteSource&) = delete;
  ByteSource& operator=(const ByteSource&) = delete;

  /// Up to `capacity` bytes, as soon as there are any; 0 at the end. Throws DamagedGzip.
  size_t read(char* bytes, size_t capacity) {
    if (!started_) start();
    if (gzip_) return unpack(bytes, capacity);
    if (stream_.avail_in == 0) return read_some(file_.number(), bytes, capacity, name_);
    const size_t count = std::min<size_t>(stream_.avail_in, capacity);
    std::memcpy(bytes, stream_.next_in, count);
    stream_.next_in += count;
    stream_.avail_in -= count;
    return count;
  }

  /// True if read() need not wait, or does so for the rest of a packed block only.
  bool ready(int milliseconds) const {
    if (gzip_ || stream_.avail_in > 0) return true;
    return wait_for_input(file_.number(), milliseconds);
  }

 private:
  /// Reads more behind what is left of the input; false at the end of the file.
  bool refill() {
    std::memmove(input_.data(), stream_.next_in, stream_.avail_in);
    const size_t left = stream_.avail_in;
    const size_t count = read_some(file_.number(), input_.data() + left, input_.size() - left, name_);
    stream_.next_in = reinterpret_cast<Bytef*>(input_.data());
    stream_.avail_in = static_cast<uInt>(left + count);
    return count > 0;
  }

  /// Looks for gzip's two magic bytes. The second is waited for only after the first: a terminal may send one byte.
  bool at_gzip_magic() {
    while (stream_.avail_in < 2 && (stream_.avail_in == 0 || stream_.next_in[0] == kGzipMagic[0])) {
      if (!refill()) return false;
    }
    return stream_.avail_in >= 2 && std::memcmp(stream_.next_in, kGzipMagic, 2) == 0;
  }

  void start() {
    started_ = true;
    while (!wait_for_input(file_.number(), -1)) {  // for the writer of a named pipe
    }
    stream_.next_in = reinterpret_cast<Bytef*>(input_.data());
    if (!at_gzip_magic()) {
      if (foreign_ == ForeignBytes::kRefuse) refuse_foreign_bytes();
      return;
    }
    // 15: the largest window; +16: a gzip header and checksum.
    if (inflateInit2(&stream_, 15 + 16) != Z_OK) throw MachineError(name_ + ": out of memory for gzip");
    gzip_ = true;
  }

  /// A further byte of a magic is waited for only after those before it.
  void refuse_foreign_bytes() {
    const auto begun = [&] {
      return std::string_view(reinterpret_cast<const char*>(stream_.next_in), stream_.avail_in);
    };
    for (const auto& format : kForeignFormats) {
      while (!begun().empty() && begun().size() < format.magic.size() && agree(begun(), format.magic)) {
        if (!refill()) break;
      }
      if (begun().size() >= format.magic.size() && agree(begun(), format.magic))
        throw Error(
            fmt::format("{}: is {}; {} first (plain UTF-8 text and gzip are read)", name_, format.what, format.advice));
    }
  }

  size_t unpack(char* bytes, size_t capacity) {
    stream_.next_out = reinterpret_cast<Bytef*>(bytes);
    stream_.avail_out = static_cast<uInt>(std::min<size_t>(capacity, 1 << 30));
    const uInt room = stream_.avail_out;
    while (stream_.avail_out == room) {
      if (member_ended_ && !next_member()) return 0;
      if (stream_.avail_in == 0 && !refill()) throw DamagedGzip{"it ends too early"};
      const int result = inflate(&stream_, Z_NO_FLUSH);
      if (result == Z_STREAM_END) {
        member_ended_ = true;
      } else if (result == Z_MEM_ERROR) {
        throw MachineError(name_ + ": out of memory for gzip");
      } else if (result != Z_OK && result != Z_BUF_ERROR && stream_.avail_out == room) {
        throw DamagedGzip{stream_.msg ? stream_.msg : "invalid data"};  // after what came before it is handed out
      }
    }
    return room - stream_.avail_out;
  }

  /// Continues with the member that follows; false at the end of the file. Zero bytes may pad the end, as of tapes.
  bool next_member() {
    if (at_gzip_magic()) {
      inflateReset(&stream_);
      member_ended_ = false;
      return true;
    }
    do {
      const std::string_view rest(reinterpret_cast<const char*>(stream_.next_in), stream_.avail_in);
      if (rest.find_first_not_of('\0') != std::string_view::npos) {
        throw DamagedGzip{"what follows the packed data is not gzip"};
      }
      stream_.avail_in = 0;
    } while (refill());
    return false;
  }

  FileDescriptor file_;
  std::string name_;
  ForeignBytes foreign_;
  std::vector<char> input_;
  z_stream stream_{};  // next_in and avail_in: what is left of input_, of plain files too
  bool started_ = false, gzip_ = false, member_ended_ = false;
};

std::string display_name(const std::filesystem::path& path) { return path == "-" ? "standard input" : path.string(); }

FileDescriptor open_input(const std::filesystem::path& path) {
  if (path != "-") return open_for_reading(path, UnwrittenPipe::kReturn);
  FileDescriptor copy(::dup(STDIN_FILENO));  // a copy, so that closing it leaves standard input alone
  if (copy.number() < 0) throw Error("standard input: is closed");
  return copy;
}

}  // namespace

struct LineReader::State {
  State(const std::filesystem::path& file, LongestLine limit, ForeignBytes foreign)
      : path(file), longest(limit), source(open_input(file), display_name(file), foreign), buffer(kLineBuffer) {}

  /// Makes space behind the unfinished line and reads more; false at the end.
  bool fill() {
    if (ended) return false;  // asked again, a terminal would continue
    if (begin > 0) {
      std::memmove(buffer.data(), buffer.data() + begin, end - begin);
      end -= begin;
      begin = 0;
    }
    if (end == buffer.size()) buffer.resize(2 * buffer.size());
    try {
      const size_t count = source.read(buffer.data() + end, buffer.size() - end);
      end += count;
      ended = count == 0;
      return !ended;
    } catch (const DamagedGzip& damage) {
      const auto lines_ahead = std::count(buffer.begin() + begin, buffer.begin() + end, '\n');  // of look_ahead()
      throw Error(fmt::format("{}: damaged gzip after line {} ({}); get the file anew", display_name(path),
                              line_number + lines_ahead, damage.why));
    }
  }

  /// Leaves out what follows of a line up to its end.
  void skip_line() {
    for (;;) {
      const char* bytes = buffer.data() + begin;
      if (const auto* newline = static_cast<const char*>(std::memchr(bytes, '\n', end - begin))) {
        begin += static_cast<size_t>(newline - bytes) + 1;
        return;
      }
      begin = end;
      if (fill()) continue;
      at_unended_line = true;
      return;
    }
  }

  /// The beginning of a line that is longer than allowed.
  std::string_view cut_line() {
    if (longest.beyond == LongestLine::Beyond::kRefuse)
      throw Error(fmt::format("{}:{}: a line of more than {} MiB; this is no text, or it has lost its line ends",
                              display_name(path), line_number, longest.bytes >> 20));
    cut.assign(buffer.data() + begin, longest.bytes);
    begin += longest.bytes;
    skip_line();
    is_cut = true;
    return cut;
  }

  std::filesystem::path path;
  LongestLine longest;
  ByteSource source;
  std::vector<char> buffer;
  std::string cut;
  size_t begin = 0, end = 0;  // the bytes read but not handed out
  int64_t line_number = 0;
  bool ended = false, at_unended_line = false, is_cut = false;
};

LineReader::LineReader(const std::filesystem::path& path, LongestLine longest, ForeignBytes foreign)
    : state_(std::make_unique<State>(path, longest, foreign)) {}
LineReader::~LineReader() = default;
LineReader::LineReader(LineReader&&) noexcept = default;
LineReader& LineReader::operator=(LineReader&&) noexcept = default;

std::optional<std::string_view> LineReader::next() {
  State& s = *state_;
  s.is_cut = false;
  size_t searched = 0;  // bytes of the line known to hold no \n: long lines are not searched again at every fill
  for (;;) {
    const char* line = s.buffer.data() + s.begin;
    const size_t size = s.end - s.begin;
    const auto* newline = static_cast<const char*>(std::memchr(line + searched, '\n', size - searched));
    if (static_cast<size_t>(newline ? newline - line : size) > s.longest.bytes) {
      ++s.line_number;
      return s.cut_line();
    }
    if (newline) {
      const std::string_view result(line, newline - line);
      s.begin += result.size() + 1;
      ++s.line_number;
      return result;
    }
    searched = size;
    if (s.fill()) continue;
    if (size == 0) return std::nullopt;
    ++s.line_number;
    const std::string_view result(s.buffer.data() + s.begin, size);
    s.begin = s.end;
    s.at_unended_line = true;
    return result;
  }
}

bool LineReader::ready(int milliseconds) {
  State& s = *state_;
  for (;;) {
    const size_t size = s.end - s.begin;
    if (s.ended || size > s.longest.bytes || std::memchr(s.buffer.data() + s.begin, '\n', size)) return true;
    if (!s.source.ready(milliseconds)) return false;
    s.fill();
  }
}

std::string_view LineReader::look_ahead(size_t bytes) {
  State& s = *state_;
  while (s.end - s.begin < bytes && s.fill()) {
  }
  return {s.buffer.data() + s.begin, std::min(s.end - s.begin, bytes)};
}

bool LineReader::is_cut() const { return state_->is_cut; }

bool LineReader::at_unended_line() const { return state_->at_unended_line; }

int64_t LineReader::line_number() const { return state_->line_number; }
const std::filesystem::path& LineReader::path() const { return state_->path; }

}  // namespace nmt
