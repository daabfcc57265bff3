#include "scoring/command/scored_corpus_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "base/error.h"
#include "base/files/byte_order_mark.h"
#include "base/files/file.h"
#include "base/files/line_reader.h"
#include "base/unicode.h"
#include "scoring/command/command_error.h"
#include "scoring/metrics/original_bleu.h"
#include "scoring/python/text_decoder.h"

namespace nmt::scoring {
namespace {

constexpr int64_t kSegmentsPerBlock = 2048;  // stay in the processor's cache
constexpr size_t kBytesPerBlock = 16 << 20;  // of all streams together

std::vector<std::string_view> split_at_tabs(std::string_view line, int64_t max_splits) {
  std::vector<std::string_view> fields;
  while (max_splits < 0 || static_cast<int64_t>(fields.size()) < max_splits) {
    const size_t tab = line.find('\t');
    if (tab == std::string_view::npos) break;
    fields.push_back(line.substr(0, tab));
    line.remove_prefix(tab + 1);
  }
  fields.push_back(line);
  return fields;
}

/// What is read, and what messages call it.
struct Input {
  std::string path;  ///< as LineReader takes it
  std::string name;
};

const Input& standard_input() {
  static const Input input{.path = "-", .name = "standard input"};
  return input;
}

/// A file of the name "-" is a file, as for sacreBLEU. Throws Error where somebody means standard input by it.
Input file_input(const std::string& given) {
  if (given != "-") return {.path = given, .name = given};
  std::error_code ignored;
  if (!std::filesystem::exists("./-", ignored))
    throw Error("-: no file of this name; without -i standard input is read");
  return {.path = "./-", .name = given};
}

/// Lines of one file or of standard input, decoded.
class Lines {
 public:
  enum class Ends { kNewline, kUniversal };  // universal: \n, \r and \r\n

  Lines(const Input& input, const CorpusSource& source, Ends ends)
      : name_(input.name),
        ends_(ends),
        cut_unended_(source.cut_unended_lines),
        skip_mark_(is_utf8_sig_name(source.encoding)) {
    if (is_utf8_name(source.encoding) || skip_mark_) {
      reader_.emplace(input.path);
    } else {
      decode(input.path, source.encoding);
    }
  }

  std::optional<std::string_view> next() {
    while (true) {
      if (const auto part = next_part()) return part;
      auto line = next_line();
      if (!line) return std::nullopt;
      if (const size_t mark = skip_mark_ && file_line_ == 0 ? byte_order_mark_length(*line) : 0; mark > 0) {
        line->remove_prefix(mark);
        if (line->empty() && at_unended_line()) return std::nullopt;  // an empty file
      }
      if (cut_unended_ && at_unended_line()) line = without_last_character(*line);
      ++file_line_;
      if (const auto at = find_invalid_utf8(*line)) {
        throw CommandError(
            kFailed, fmt::format("{}:{}: not UTF-8 at byte {}; convert the file, or name its encoding with -e", name_,
                                 file_line_, *at + 1));
      }
      if (ends_ == Ends::kNewline || line->find('\r') == std::string_view::npos) return line;
      // The \r of a \r\n goes; a \n that is missing at the end of the file makes no difference then.
      rest_ = line->ends_with('\r') ? line->substr(0, line->size() - 1) : *line;
      has_rest_ = true;
    }
  }

 private:
  /// What stands before the next \r of a line.
  std::optional<std::string_view> next_part() {
    if (!has_rest_) return std::nullopt;
    const size_t end = rest_.find('\r');
    const std::string_view part = rest_.substr(0, end);
    has_rest_ = end != std::string_view::npos;
    if (has_rest_) rest_.remove_prefix(end + 1);
    return part;
  }

  std::optional<std::string_view> next_line() {
    if (reader_) return reader_->next();
    if (position_ == decoded_.size()) return std::nullopt;
    const size_t end = std::min(decoded_.find('\n', position_), decoded_.size());
    const auto line = std::string_view(decoded_).substr(position_, end - position_);
    position_ = std::min(end + 1, decoded_.size());
    return line;
  }

  bool at_unended_line() const {
    return reader_ ? reader_->at_unended_line() : position_ == decoded_.size() && !decoded_.ends_with('\n');
  }

  void decode(const std::string& path, const std::string& encoding) {
    try {
      decoded_ = decode_to_utf8(read_bytes(path), encoding);
    } catch (const Error& error) {
      throw CommandError(kFailed, fmt::format("{}: {}", name_, error.what()));
    }
  }

  /// A plain file as it is; of gzip and standard input, lines put together again.
  static std::string read_bytes(const std::string& path) {
    if (path != "-" && !path.ends_with(".gz")) return read_file(path);
    std::string bytes;
    LineReader reader(path, {}, ForeignBytes::kRead);  // in whatever encoding
    while (const auto line = reader.next()) bytes.append(*line).append(1, '\n');
    return bytes;
  }

  std::string name_;
  Ends ends_;
  bool cut_unended_, skip_mark_;
  std::optional<LineReader> reader_;
  std::string decoded_;
  size_t position_ = 0;
  int64_t file_line_ = 0;
  std::string_view rest_;
  bool has_rest_ = false;
};

}  // namespace

/// One file or standard input, and the columns that a line of it falls into.
class CorpusReader::Stream {
 public:
  enum class Kind { kWholeLines, kReferenceFields, kSystemFields };

  Stream(const Input& input, const CorpusSource& source, Kind kind, int64_t fields)
      : name_(input.name),
        kind_(kind),
        fields_(fields),
        keep_ends_(source.keep_line_ends),
        lines_(input, source, kind == Kind::kSystemFields ? Lines::Ends::kUniversal : Lines::Ends::kNewline) {
    if (kind_ != Kind::kSystemFields) return;
    // Standard input: the first line, which may be missing, tells how many systems there are.
    const auto first = lines_.next();
    first_line_ = std::string(first.value_or(""));
    fields_ = static_cast<int64_t>(split_at_tabs(strip_end(*first_line_), -1).size());
    at_end_ = !first;
  }

  int64_t fields() const { return fields_; }
  int64_t lines() const { return line_; }  ///< read so far
  const std::string& name() const { return name_; }

  void begin_block() {
    text_.clear();
    ends_.clear();
  }
  size_t block_bytes() const { return text_.size(); }

  /// The lines of the block, column by column.
  std::vector<std::vector<std::string_view>> columns() const {
    std::vector<std::vector<std::string_view>> columns(std::max<int64_t>(1, fields_));
    size_t start = 0, field = 0;
    for (const size_t end : ends_) {
      columns[field].push_back(std::string_view(text_).substr(start, end - start));
      start = end;
      field = field + 1 == columns.size() ? 0 : field + 1;
    }
    return columns;
  }

  /// Adds the next line to the block; false at the end.
  bool append_line() {
    if (first_line_) {
      const std::string line = *std::move(first_line_);
      first_line_.reset();
      ++line_;
      for (const auto field : split_at_tabs(strip_end(line), -1)) append(keeps_whole_line() ? line : field);
      return true;
    }
    if (at_end_) return false;
    const auto raw = lines_.next();
    at_end_ = !raw;
    if (at_end_) return false;
    ++line_;
    const std::string_view line = strip_end(*raw);
    if (kind_ == Kind::kWholeLines) {
      append(keeps_whole_line() ? *raw : line);
      return true;
    }
    const auto fields = split_at_tabs(line, kind_ == Kind::kReferenceFields ? fields_ - 1 : -1);
    if (static_cast<int64_t>(fields.size()) != fields_) {
      throw CommandError(kWrongFieldCount, fmt::format("{} line {}: expected {} tab-separated fields, but found {}",
                                                       name(), line_, fields_, fields.size()));
    }
    if (keeps_whole_line()) {
      append(*raw);
      return true;
    }
    for (const auto field : fields) append(kind_ == Kind::kSystemFields ? strip_end(field) : field);
    return true;
  }

  void check_rest() {
    do {
      begin_block();
    } while (append_line());
  }

 private:
  bool keeps_whole_line() const { return keep_ends_ && fields_ == 1; }

  void append(std::string_view field) {
    text_ += field;
    ends_.push_back(text_.size());
  }

  std::string name_;
  Kind kind_;
  int64_t fields_;
  bool keep_ends_;
  Lines lines_;
  std::optional<std::string> first_line_;
  bool at_end_ = false;
  int64_t line_ = 0;
  std::string text_;          // of the block
  std::vector<size_t> ends_;  // of its fields
};

CorpusReader::~CorpusReader() = default;

CorpusReader::CorpusReader(CorpusSource source) : source_(std::move(source)) {
  using Kind = Stream::Kind;
  const auto open = [&](const std::string& file, Kind kind, int64_t fields) {
    try {
      const Input input = kind == Kind::kSystemFields ? standard_input() : file_input(file);
      streams_.push_back(std::make_unique<Stream>(input, source_, kind, fields));
    } catch (const CommandError&) {
      check_rest();
      throw;
    } catch (const Error& error) {
      check_rest();
      throw CommandError(kFailed, error.what());
    }
  };
  const bool split = source_.fields != 1;
  for (const std::string& path : source_.references) {
    open(path, split ? Kind::kReferenceFields : Kind::kWholeLines, source_.fields);
  }
  reference_streams_ = streams_.size();
  if (!source_.systems) {
    open("", Kind::kSystemFields, 0);
  } else {
    for (const std::string& path : *source_.systems) open(path, Kind::kWholeLines, 1);
  }
}

size_t CorpusReader::systems() const {
  return source_.systems ? source_.systems->size() : static_cast<size_t>(streams_.back()->fields());
}

void CorpusReader::check_rest() {
  for (const auto& stream : streams_) {
    try {
      stream->check_rest();
    } catch (const CommandError&) {
      throw;
    } catch (const Error& error) {
      throw CommandError(kFailed, error.what());
    }
  }
}

void CorpusReader::fail_after_reading(const std::string& message) {
  check_rest();
  throw CommandError(kFailed, message);
}

/// All streams are read to their ends.
void CorpusReader::fail_on_lengths() const {
  std::string counts;
  for (const auto& stream : streams_)
    counts += fmt::format("{}{} has {}", counts.empty() ? "" : ", ", stream->name(), stream->lines());
  throw CommandError(kFailed, fmt::format("different numbers of lines: {}; give one line a segment in each", counts));
}

bool CorpusReader::append_lines() {
  size_t ended = 0, i = 0;
  try {
    for (; i < streams_.size(); ++i) ended += !streams_[i]->append_line();
  } catch (const std::exception& error) {
    // sacreBLEU would have read the streams before this one to their ends.
    for (size_t k = 0; k < i; ++k) streams_[k]->check_rest();
    if (dynamic_cast<const CommandError*>(&error) || !dynamic_cast<const Error*>(&error)) throw;
    throw CommandError(kFailed, error.what());
  }
  if (ended != 0 && ended != streams_.size()) {
    check_rest();
    fail_on_lengths();
  }
  if (ended == 0) ++segments_;
  return ended == 0;
}

bool CorpusReader::next(SegmentBlock& block) {
  if (ended_) return false;
  for (const auto& stream : streams_) stream->begin_block();
  const int64_t before = segments_;
  const auto bytes = [&] {
    size_t sum = 0;
    for (const auto& stream : streams_) sum += stream->block_bytes();
    return sum;
  };
  while (segments_ - before < kSegmentsPerBlock && bytes() < kBytesPerBlock) {
    ended_ = !append_lines();
    if (ended_) break;
  }
  if (segments_ == 0) throw CommandError(kFailed, "the systems contain no sentence");
  block.references.clear();
  block.hypotheses.clear();
  block.has_line_ends = source_.keep_line_ends;
  for (size_t i = 0; i < streams_.size(); ++i) {
    auto& all = i < reference_streams_ ? block.references : block.hypotheses;
    for (auto& column : streams_[i]->columns()) all.push_back(std::move(column));
  }
  return segments_ > before;
}

}  // namespace nmt::scoring
