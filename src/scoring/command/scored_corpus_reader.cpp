#include "scoring/command/scored_corpus_reader.h"

#include <fmt/format.h>
#include <unicode/ucnv.h>
#include <unicode/unistr.h>

#include <algorithm>
#include <deque>
#include <limits>
#include <optional>
#include <sstream>

#include "base/files/line_reader.h"
#include "base/unicode.h"
#include "scoring/metrics/original_bleu.h"

namespace nmt::scoring {
namespace {

constexpr int64_t kSegmentsPerBlock = 2048;  // stay in the processor's cache
constexpr size_t kBytesPerBlock = 16 << 20;  // of all streams together
constexpr const char* kStandardInput = "-";  // as LineReader calls it

std::vector<std::string_view> split(std::string_view text, char separator, int64_t max_splits = -1) {
  std::vector<std::string_view> parts;
  while (max_splits < 0 || std::ssize(parts) < max_splits) {
    const size_t end = text.find(separator);
    if (end == std::string_view::npos) break;
    parts.push_back(text.substr(0, end));
    text.remove_prefix(end + 1);
  }
  parts.push_back(text);
  return parts;
}

/// The whole text of a file or of standard input, in UTF-8. encoding: any that ICU knows.
std::string decoded_text(const std::string& path, const std::string& encoding) {
  UErrorCode status = U_ZERO_ERROR;
  const std::unique_ptr<UConverter, decltype(&ucnv_close)> converter(ucnv_open(encoding.c_str(), &status), ucnv_close);
  if (U_FAILURE(status)) throw Error(fmt::format("-e {}: unknown encoding", encoding));
  ucnv_setToUCallBack(converter.get(), UCNV_TO_U_CALLBACK_STOP, nullptr, nullptr, nullptr, &status);

  std::string bytes;
  LineReader reader(path, {}, ForeignBytes::kRead);  // whatever it is encoded in
  while (const auto line = reader.next()) {
    bytes += *line;
    if (!reader.at_unended_line()) bytes += '\n';
  }
  if (bytes.size() > std::numeric_limits<int32_t>::max())
    throw Error(fmt::format("{}: too large for -e; convert it to UTF-8", path));
  const icu::UnicodeString text(bytes.data(), static_cast<int32_t>(bytes.size()), converter.get(), status);
  if (U_FAILURE(status)) throw Error(fmt::format("{}: is not {}; name its encoding with -e", path, encoding));
  std::string utf8;
  return text.toUTF8String(utf8);
}

/// Lines of one file, or of standard input, which \r and \r\n end as well.
class Lines {
 public:
  Lines(const std::string& path, const CorpusSource& source)
      : cut_unended_(source.cut_unended_lines), split_at_returns_(path == kStandardInput) {
    if (ucnv_compareNames(source.encoding.c_str(), "utf-8") == 0) {  // or UTF8, utf_8
      reader_.emplace(path);
    } else {
      decoded_.str(decoded_text(path, source.encoding));
    }
  }

  std::optional<std::string> next() {
    if (lines_.empty() && !read()) return std::nullopt;
    std::string line = std::move(lines_.front());
    lines_.pop_front();
    return line;
  }

  void put_back(std::string line) { lines_.push_front(std::move(line)); }

 private:
  bool read() {
    std::string line;
    if (!reader_) {
      if (!std::getline(decoded_, line)) return false;
    } else if (const auto found = reader_->next()) {
      line = *found;
    } else {
      return false;
    }
    const bool is_unended = reader_ ? reader_->at_unended_line() : decoded_.eof();
    if (cut_unended_ && is_unended) line = without_last_character(line);
    if (!split_at_returns_) {
      lines_.push_back(std::move(line));
      return true;
    }
    if (line.ends_with('\r')) line.pop_back();
    for (const auto part : split(line, '\r')) lines_.emplace_back(part);
    return true;
  }

  bool cut_unended_, split_at_returns_;
  std::optional<LineReader> reader_;
  std::istringstream decoded_;
  std::deque<std::string> lines_;
};

}  // namespace

/// One file or standard input, and the columns that its lines fall into.
class CorpusReader::Stream {
 public:
  /// fields: how many a line has. Of standard input, the first line tells it.
  Stream(const std::string& path, int64_t fields, const CorpusSource& source)
      : name_(path == kStandardInput ? "standard input" : path),
        is_input_(path == kStandardInput),
        fields_(fields),
        lines_(path, source) {
    if (is_input_) {
      std::string first = lines_.next().value_or("");  // no text at all is one empty line
      fields_ = std::ssize(split(strip_end(first), '\t'));
      lines_.put_back(std::move(first));
    }
    keep_ends_ = source.keep_line_ends && fields_ == 1;
  }

  const std::string& name() const { return name_; }
  int64_t fields() const { return fields_; }
  /// The lines of the block, column by column.
  const std::vector<std::vector<std::string>>& columns() const { return columns_; }
  size_t block_bytes() const { return bytes_; }

  void begin_block() {
    for (auto& column : columns_) column.clear();
    bytes_ = 0;
  }

  /// Adds the next line to the block; false at the end.
  bool read_line() {
    auto line = lines_.next();
    if (!line) return false;
    ++line_;
    bytes_ += line->size();
    if (const auto at = find_invalid_utf8(*line)) {
      throw Error(fmt::format("{}:{}: not UTF-8 at byte {}; convert the file, or name its encoding with -e", name_,
                              line_, *at + 1));
    }
    const std::string_view text = strip_end(*line);
    if (is_input_ || fields_ != 1) {
      const auto fields = split(text, '\t', is_input_ ? -1 : fields_ - 1);
      if (std::ssize(fields) != fields_)
        throw FieldCountError(
            fmt::format("{}:{}: expected {} tab-separated fields, but found {}", name_, line_, fields_, fields.size()));
      columns_.resize(fields.size());
      // sacreBLEU keeps white space before the tabs of references, and of the first line of systems.
      const bool strips = is_input_ && line_ > 1;
      for (size_t i = 0; i < fields.size(); ++i) columns_[i].emplace_back(strips ? strip_end(fields[i]) : fields[i]);
      if (keep_ends_) columns_.front().back() = std::move(*line);
      return true;
    }
    if (!keep_ends_) line->resize(text.size());
    columns_.front().push_back(std::move(*line));
    return true;
  }

 private:
  std::string name_;
  bool is_input_, keep_ends_ = false;
  int64_t fields_;
  Lines lines_;
  int64_t line_ = 0;
  std::vector<std::vector<std::string>> columns_{1};
  size_t bytes_ = 0;
};

CorpusReader::~CorpusReader() = default;

CorpusReader::CorpusReader(const CorpusSource& source) : keep_line_ends_(source.keep_line_ends) {
  const auto open = [&](const std::vector<std::string>& files, int64_t fields) {
    for (const std::string& file : files) {
      if (file == kStandardInput) throw Error("-: without -i standard input is read; a file of this name is ./-");
      streams_.push_back(std::make_unique<Stream>(file, fields, source));
    }
  };
  open(source.references, source.fields);
  reference_streams_ = streams_.size();
  open(source.systems, 1);
  if (source.systems.empty()) streams_.push_back(std::make_unique<Stream>(kStandardInput, 0, source));
}

size_t CorpusReader::systems() const {
  int64_t systems = 0;
  for (size_t i = reference_streams_; i < streams_.size(); ++i) systems += streams_[i]->fields();
  return systems;
}

bool CorpusReader::read_segment() {
  std::string ended, longer;
  for (const auto& stream : streams_) (stream->read_line() ? longer : ended) = stream->name();
  if (!ended.empty() && !longer.empty())
    throw Error(fmt::format("different numbers of lines: {} has fewer than {}; give one line a segment in each", ended,
                            longer));
  return ended.empty();
}

bool CorpusReader::next(SegmentBlock& block) {
  if (ended_) return false;
  for (const auto& stream : streams_) stream->begin_block();
  int64_t segments = 0;
  for (size_t bytes = 0; segments < kSegmentsPerBlock && bytes < kBytesPerBlock; ++segments) {
    ended_ = !read_segment();
    if (ended_) break;
    bytes = 0;
    for (const auto& stream : streams_) bytes += stream->block_bytes();
  }
  has_segments_ |= segments > 0;
  if (!has_segments_) throw Error("the systems contain no sentence");
  block = {.hypotheses = {}, .references = {}, .has_line_ends = keep_line_ends_};
  for (size_t i = 0; i < streams_.size(); ++i) {
    for (const auto& column : streams_[i]->columns())
      (i < reference_streams_ ? block.references : block.hypotheses).emplace_back(column.begin(), column.end());
  }
  return segments > 0;
}

}  // namespace nmt::scoring
