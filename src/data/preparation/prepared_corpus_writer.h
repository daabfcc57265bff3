#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/files/file.h"
#include "base/process/log.h"
#include "data/prepared_corpus.h"

namespace nmt {

/// What nmt-prepro does one after the other.
enum class PreprocessStage {
  kReading,     ///< the first reading: checks, filters, duplicates, the sample for the vocabulary
  kVocabulary,  ///< learning vocabularies
  kEncoding,    ///< the second reading: encoding on all threads, filtering, columns
  kLexicon,
  kAlignment,
  kWriting,    ///< the files of the folder
  kChecksums,  ///< SHA-256 of inputs and outputs
};
constexpr size_t kPreprocessStages = 7;

/// Adds up the seconds of each stage on the thread that drives them, so that stages and the rest add up to the whole.
class StageTimes {
 public:
  explicit StageTimes(Clock clock = steady_seconds) : clock_(std::move(clock)), begin_(clock_()) {}

  /// Counts for its stage as long as it lives; what is counted meanwhile for another one does not count twice.
  class Scope {
   public:
    Scope(StageTimes& times, PreprocessStage stage);
    ~Scope();
    Scope(const Scope&) = delete;

   private:
    friend StageTimes;
    StageTimes& times_;
    Scope* outer_;
    PreprocessStage stage_;
    double begin_, inner_ = 0;
  };
  [[nodiscard]] Scope measure(PreprocessStage stage) { return {*this, stage}; }

  double seconds(PreprocessStage stage) const { return seconds_[static_cast<size_t>(stage)]; }
  /// "vocabulary: 1:05 so far", of the stage that is under way.
  std::string under_way() const;
  /// A line a stage that took any time, and what is left: seconds, share of the whole, name.
  std::vector<std::string> table() const;

 private:
  Clock clock_;
  double begin_;
  std::array<double, kPreprocessStages> seconds_{};
  Scope* innermost_ = nullptr;
};

/// One sentence pair on its way to the file.
struct PreparedPair {
  std::span<const int32_t> source, target;  ///< pieces, without <s> and </s>
  std::string_view source_text, target_text;
  int32_t corpus = 0;
};

/// Writes what PreparedCorpus reads, pair by pair, in constant memory: the columns grow in files of their own beside
/// (PATH.columnN), which finish() joins. Without finish() nothing is left behind.
class PreparedCorpusWriter {
 public:
  explicit PreparedCorpusWriter(std::filesystem::path path);  ///< throws as AtomicFile
  ~PreparedCorpusWriter();
  PreparedCorpusWriter(const PreparedCorpusWriter&) = delete;
  void add(const PreparedPair& pair);  ///< throws MachineError (disk full)
  /// The last call; returns the file's SHA-256, whose making is counted in `times`. Throws MachineError.
  std::string finish(StageTimes* times = nullptr);
  int64_t size() const { return static_cast<int64_t>(header_.pairs); }
  int64_t source_tokens() const;  ///< pieces so far
  int64_t target_tokens() const;

 private:
  class ColumnFile;
  std::filesystem::path path_;
  prepared_corpus_format::Header header_;
  std::array<std::unique_ptr<ColumnFile>, prepared_corpus_format::kColumns> columns_;
};

}  // namespace nmt
