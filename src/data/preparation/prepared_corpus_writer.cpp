#include "data/preparation/prepared_corpus_writer.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <numeric>
#include <optional>
#include <vector>

#include "base/error.h"
#include "base/files/file_descriptor.h"

namespace nmt {
namespace {

constexpr std::array<const char*, kPreprocessStages> kStageNames = {
    "reading and filtering", "vocabulary", "encoding", "lexicon", "alignment", "writing", "checksums"};

}  // namespace

StageTimes::Scope::Scope(StageTimes& times, PreprocessStage stage)
    : times_(times), outer_(times.innermost_), stage_(stage), begin_(times.clock_()) {
  times_.innermost_ = this;
}

StageTimes::Scope::~Scope() {
  const double all = times_.clock_() - begin_;
  times_.seconds_[static_cast<size_t>(stage_)] += all - inner_;
  if (outer_) outer_->inner_ += all;
  times_.innermost_ = outer_;
}

std::string StageTimes::under_way() const {
  if (!innermost_) return "under way";
  return fmt::format("{}: {} so far", kStageNames[static_cast<size_t>(innermost_->stage_)],
                     format_duration(clock_() - innermost_->begin_));
}

std::vector<std::string> StageTimes::table() const {
  const double whole = clock_() - begin_;
  std::vector<std::string> lines{fmt::format("{:.1f} s, of these:", whole)};
  const auto add = [&](double seconds, const char* name) {
    if (seconds > 0)
      lines.push_back(fmt::format("  {:5.1f} %  {:8.1f} s  {}", 100 * seconds / std::max(whole, 1e-9), seconds, name));
  };
  for (size_t stage = 0; stage < kPreprocessStages; ++stage) add(seconds_[stage], kStageNames[stage]);
  add(whole - std::accumulate(seconds_.begin(), seconds_.end(), 0.0), "the rest");
  return lines;
}

namespace {

namespace format = prepared_corpus_format;

constexpr size_t kBuffer = 256 << 10;
constexpr size_t kCopyBuffer = 1 << 20;

template <typename T>
std::string_view as_bytes(std::span<const T> items) {
  return {reinterpret_cast<const char*>(items.data()), items.size_bytes()};
}

template <typename T>
std::string_view as_bytes(const T& item) {
  return as_bytes(std::span<const T>(&item, 1));
}

}  // namespace

/// A column in the making. Its name is removed as soon as it is open: the system frees it even after a kill.
class PreparedCorpusWriter::ColumnFile {
 public:
  explicit ColumnFile(std::filesystem::path path) : path_(std::move(path)), buffer_(kBuffer) {
    file_ = std::fopen(path_.c_str(), "w+be");
    if (!file_) fail();
    std::setvbuf(file_, buffer_.data(), _IOFBF, buffer_.size());
    ::unlink(path_.c_str());
  }
  ~ColumnFile() { std::fclose(file_); }
  ColumnFile(const ColumnFile&) = delete;

  void write(std::string_view bytes) {
    if (bytes.empty()) return;  // its data() may be null, which fwrite does not allow
    if (std::fwrite(bytes.data(), 1, bytes.size(), file_) != bytes.size()) fail();
    size_ += bytes.size();
  }
  uint64_t size() const { return size_; }

  template <typename Sink>
  void copy_to(Sink&& sink) {
    if (std::fflush(file_) != 0 || std::fseek(file_, 0, SEEK_SET) != 0) fail();
    std::vector<char> chunk(kCopyBuffer);
    for (uint64_t left = size_; left > 0;) {
      const size_t count = std::fread(chunk.data(), 1, std::min<uint64_t>(chunk.size(), left), file_);
      if (count == 0) fail();
      sink(std::string_view(chunk.data(), count));
      left -= count;
    }
  }

 private:
  [[noreturn]] void fail() const {
    throw MachineError(fmt::format("{}: cannot write ({})", path_.string(), system_message(errno)));
  }
  std::filesystem::path path_;
  std::vector<char> buffer_;
  std::FILE* file_ = nullptr;
  uint64_t size_ = 0;
};

PreparedCorpusWriter::PreparedCorpusWriter(std::filesystem::path path) : path_(std::move(path)) {
  for (int column = 0; column < format::kColumns; ++column) {
    columns_[column] = std::make_unique<ColumnFile>(fmt::format("{}.column{}", path_.string(), column));
  }
}

PreparedCorpusWriter::~PreparedCorpusWriter() = default;

void PreparedCorpusWriter::add(const PreparedPair& pair) {
  columns_[format::kSourceIds]->write(as_bytes(pair.source));
  columns_[format::kTargetIds]->write(as_bytes(pair.target));
  columns_[format::kSourceBytes]->write(pair.source_text);
  columns_[format::kTargetBytes]->write(pair.target_text);
  columns_[format::kSourceEnds]->write(as_bytes(static_cast<uint64_t>(source_tokens())));
  columns_[format::kTargetEnds]->write(as_bytes(static_cast<uint64_t>(target_tokens())));
  columns_[format::kSourceTextEnds]->write(as_bytes(columns_[format::kSourceBytes]->size()));
  columns_[format::kTargetTextEnds]->write(as_bytes(columns_[format::kTargetBytes]->size()));
  columns_[format::kCorpora]->write(as_bytes(pair.corpus));
  ++header_.pairs;
}

std::string PreparedCorpusWriter::finish(StageTimes* times) {
  AtomicFile file(path_);
  Sha256 sum;
  const auto write = [&](std::string_view bytes) {
    file.write(bytes);
    std::optional<StageTimes::Scope> scope;
    if (times) scope.emplace(*times, PreprocessStage::kChecksums);
    sum.add(bytes);
  };
  for (int column = 0; column < format::kColumns; ++column) header_.column_bytes[column] = columns_[column]->size();
  write(as_bytes(header_));
  for (int column = 0; column < format::kColumns; ++column) {
    const uint64_t bytes = header_.column_bytes[column];
    columns_[column]->copy_to(write);
    write(std::string(format::aligned(bytes) - bytes, '\0'));
    columns_[column].reset();  // its disk space is free from here on
  }
  file.commit();
  return sum.hex();
}

int64_t PreparedCorpusWriter::source_tokens() const {
  return static_cast<int64_t>(columns_[format::kSourceIds]->size() / sizeof(int32_t));
}

int64_t PreparedCorpusWriter::target_tokens() const {
  return static_cast<int64_t>(columns_[format::kTargetIds]->size() / sizeof(int32_t));
}

}  // namespace nmt
