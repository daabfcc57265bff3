#include "training/loop/stopping.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

namespace nmt {
namespace {

int64_t divided_up(int64_t a, int64_t b) { return a / b + (a % b > 0 ? 1 : 0); }

}  // namespace

std::optional<std::string> reason_to_end(const Config& config, const ProgressState& progress, double minutes) {
  const auto& t = config.training;
  if (t.max_updates > 0 && progress.update >= t.max_updates) return fmt::format("{} updates done", progress.update);
  if (t.num_epochs > 0 && progress.position.epoch >= t.num_epochs)
    return fmt::format("{} epochs done", progress.position.epoch);
  if (t.max_target_tokens > 0 && progress.target_tokens >= t.max_target_tokens)
    return fmt::format("{} target tokens seen", progress.target_tokens);
  if (t.max_minutes > 0 && minutes >= t.max_minutes) return fmt::format("{} minutes are over", t.max_minutes);
  const int64_t patience = config.validation.patience;
  if (patience > 0 && progress.validations_since_best >= patience)
    return fmt::format("{} validations without a new best {}", progress.validations_since_best,
                       config.validation.best_metric.name());
  return std::nullopt;
}

std::optional<int64_t> updates_left(const TrainingConfig& config, const ProgressState& progress,
                                    int64_t batches_per_epoch) {
  std::optional<int64_t> left;
  const auto shorter = [&left](int64_t updates) { left = std::min(left.value_or(updates), updates); };
  if (config.max_updates > 0) shorter(config.max_updates - progress.update);
  if (config.num_epochs > 0) {
    const int64_t per_epoch = std::max<int64_t>(1, batches_per_epoch);
    // More epochs than can be counted in batches are as good as so many.
    const int64_t most = std::numeric_limits<int64_t>::max() / per_epoch;
    const int64_t batches = std::min(config.num_epochs - progress.position.epoch, most) * per_epoch;
    shorter(divided_up(batches - progress.position.batch, config.accumulate));
  }
  if (config.max_target_tokens > 0 && progress.target_tokens > 0) {
    const double updates_per_token = static_cast<double>(progress.update) / static_cast<double>(progress.target_tokens);
    const auto tokens = static_cast<double>(config.max_target_tokens - progress.target_tokens);
    shorter(static_cast<int64_t>(std::ceil(std::min(tokens * updates_per_token, 9e18))));
  }
  return left;
}

}  // namespace nmt
