#pragma once

#include <array>
#include <string>
#include <vector>

#include "base/process/clock.h"

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
    StageTimes& times_;
    Scope* outer_;
    PreprocessStage stage_;
    double begin_, inner_ = 0;
  };
  [[nodiscard]] Scope measure(PreprocessStage stage) { return {*this, stage}; }

  double seconds(PreprocessStage stage) const { return seconds_[static_cast<size_t>(stage)]; }
  /// A line a stage that took any time, and what is left: seconds, share of the whole, name.
  std::vector<std::string> table() const;

 private:
  Clock clock_;
  double begin_;
  std::array<double, kPreprocessStages> seconds_{};
  Scope* innermost_ = nullptr;
};

}  // namespace nmt
