#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "base/process/log.h"
#include "models/interface/safetensors.h"
#include "report/records/training_observer.h"
#include "training/checkpoints/progress_state.h"
#include "training/loop/train_update.h"

namespace nmt {

/// Adds up the figures of updates between two reports and measures their speed.
class IntervalMeter {
 public:
  explicit IntervalMeter(Clock clock) : clock_(std::move(clock)) { begin(); }

  /// A new interval begins now.
  void begin();
  void add(const UpdateStats& stats);
  /// Seconds since begin() that were not spent on training.
  void leave_out(double seconds) { start_ += seconds; }
  bool empty() const { return updates_ == 0; }

  /// Means of the updates that were not skipped, and speeds of all, in the interval up to now; seconds_left where the
  /// number of updates left is known. What the meter does not know keeps its default: epoch, update, learning rate,
  /// figures of the whole run, norms, histograms.
  TrainingInterval measured(std::optional<int64_t> updates_left) const;

 private:
  Clock clock_;
  double start_ = 0;
  UpdateStats all_;     // for speeds
  UpdateStats finite_;  // those that were not skipped
  UpdateStats last_;    // of these, if there are any
  int64_t updates_ = 0;
};

/// The figures of one update alone.
UpdateReport update_report(const UpdateStats& stats, int64_t epoch, int64_t update, double learning_rate);

/// Adds an update of epoch 1, 2, ... to the sums of that epoch, which begin again with its first; a skipped one has no
/// figures.
void add_update(EpochSums& sums, int64_t epoch, const UpdateStats& stats);

/// The epoch of the last update, its means.
EpochReport epoch_report(const ProgressState& progress);

/// What to do about a model that has diverged.
inline constexpr const char* kDivergenceAdvice =
    "begin another run (--run-dir) with a lower training.lr, more training.warmup_steps, training.clip_norm, or "
    "--precision fp32; training.init_from takes the weights of an earlier checkpoint";

/// Notes and reports what went wrong in an update: it was not finite and was skipped, or a batch did not fit into
/// memory and was split.
class UpdateGuard {
 public:
  /// learning_rate: training.lr, for the message.
  UpdateGuard(double learning_rate, Logger& log) : learning_rate_(learning_rate), log_(log) {}

  /// Throws Error after ten skipped updates in a row: the model has diverged. Those that float16 alone is the reason of
  /// (LossScale) do not count.
  void check(int64_t update, const UpdateStats& stats, ProgressState& progress) const;

 private:
  double learning_rate_;
  Logger& log_;
};

/// The norms of parameters and of their gradients by group, in the order of the parameters. A group is the first part
/// of a name: encoder_0, embedding. A parameter without gradient adds nothing to that norm.
std::vector<GroupNorm> group_norms(const NamedTensors& parameters);

/// weights/NAME and gradients/NAME of each parameter, in 30 buckets of equal width. Left out: a tensor with a value
/// that is not finite, and a gradient that is not there.
std::vector<TensorHistogram> tensor_histograms(const NamedTensors& parameters);

}  // namespace nmt
