#pragma once

#include "base/process/log.h"
#include "training/checkpoints/progress_state.h"
#include "training/loop/train_update.h"

namespace nmt {

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

}  // namespace nmt
