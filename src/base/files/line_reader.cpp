#include "base/files/line_reader.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "base/files/byte_source.h"
#include "base/files/file_descriptor.h"

namespace nmt {
namespace {

constexpr size_t kLineBuffer = 128 << 10;  // at first; larger ones cost a short run of nmt-score more than they save

std::string display_name(const std::filesystem::path& path) { return path == "-" ? "standard input" : path.string(); }

FileDescriptor open_input(const std::filesystem::path& path) {
  if (path != "-") return open_for_reading(path, UnwrittenPipe::kReturn);
  FileDescriptor copy(::dup(STDIN_FILENO));  // a copy, so that closing it leaves standard input alone
  if (copy.number() < 0) throw Error("standard input: is closed");
  return copy;
}

FileDescriptor open_member(const std::filesystem::path& archive, const ZipMember& member) {
  FileDescriptor file = open_for_reading(archive);
  if (::lseek(file.number(), static_cast<off_t>(member.offset), SEEK_SET) < 0)
    throw MachineError(archive.string() + ": cannot read (" + system_message(errno) + ")");
  return file;
}

}  // namespace

struct LineReader::State {
  State(const std::filesystem::path& file, LongestLine limit, ForeignBytes foreign)
      : path(file),
        longest(limit),
        source(open_input(file), display_name(file), foreign == ForeignBytes::kRefuse),
        buffer(kLineBuffer) {}
  State(const std::filesystem::path& archive, const ZipMember& member)
      : path(archive / member.name), source(open_member(archive, member), path.string(), member), buffer(kLineBuffer) {}

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
    } catch (const DamagedStream& damage) {
      const auto lines_ahead = std::count(buffer.begin() + begin, buffer.begin() + end, '\n');  // of look_ahead()
      throw Error(fmt::format("{}: damaged {} after line {} ({}); get the file anew", display_name(path), damage.format,
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
  LongestLine longest = {};
  ByteSource source;
  std::vector<char> buffer;
  std::string cut;
  size_t begin = 0, end = 0;  // the bytes read but not handed out
  int64_t line_number = 0;
  bool ended = false, at_unended_line = false, is_cut = false;
};

LineReader::LineReader(const std::filesystem::path& path, LongestLine longest, ForeignBytes foreign)
    : state_(std::make_unique<State>(path, longest, foreign)) {}
LineReader::LineReader(const std::filesystem::path& archive, const ZipMember& member)
    : state_(std::make_unique<State>(archive, member)) {}
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
