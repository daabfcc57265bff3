#include "training/loop/update_guard.h"

#include <fmt/format.h>

#include "base/error.h"

namespace nmt {
namespace {

constexpr int64_t kSkippedInARow = 10;

}  // namespace

void UpdateGuard::check(int64_t update, const UpdateStats& stats, ProgressState& progress) const {
  if (stats.split) {
    const auto event = fmt::format("update {}: a batch was split for lack of memory", update);
    if (progress.events.empty())
      log_.warn(
          "{}; from here on the run is no longer a function of its configuration alone (smaller training.batch_size "
          "avoids it)",
          event);
    progress.add_event(event);
  }
  if (!stats.skipped) {
    progress.skipped_in_a_row = 0;
    return;
  }
  ++progress.skipped_updates;
  if (stats.loss_scale > 1) {  // what float16 is expected to do: the scale falls until the gradients fit
    log_.info("update {}: the gradients overflow at a loss scale of {}; the update is skipped and the scale halved",
              update, stats.loss_scale);
    return;
  }
  log_.warn("update {}: loss or gradient is not finite; the update is skipped ({} so far)", update,
            progress.skipped_updates);
  if (++progress.skipped_in_a_row < kSkippedInARow) return;
  throw Error(fmt::format("training.lr {}: {} updates in a row were not finite: the model has diverged; {}",
                          learning_rate_, kSkippedInARow, kDivergenceAdvice));
}

}  // namespace nmt
