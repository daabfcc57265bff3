#include "training/loop/interval_meter.h"

#include <algorithm>
#include <cmath>

namespace nmt {

void IntervalMeter::begin() {
  sums_ = {};
  updates_ = 0;
  start_ = clock_();
}

void IntervalMeter::add(const UpdateStats& stats) {
  sums_ += stats;
  sums_.gradient_norm = stats.gradient_norm;
  ++updates_;
}

TrainingInterval IntervalMeter::measured(std::optional<int64_t> updates_left) const {
  const double seconds = std::max(clock_() - start_, 1e-9);
  const double tokens = static_cast<double>(std::max<int64_t>(sums_.target_tokens, 1));
  TrainingInterval interval{.loss = sums_.loss / tokens,
                            .perplexity = std::exp(sums_.label_loss / tokens),
                            .accuracy = static_cast<double>(sums_.correct) / tokens,
                            .gradient_norm = sums_.gradient_norm,
                            .source_tokens_per_second = static_cast<double>(sums_.source_tokens) / seconds,
                            .target_tokens_per_second = static_cast<double>(sums_.target_tokens) / seconds,
                            .real_token_share = static_cast<double>(sums_.source_tokens + sums_.target_tokens) /
                                                static_cast<double>(std::max<int64_t>(sums_.padded_tokens, 1))};
  if (updates_left)
    interval.seconds_left =
        static_cast<double>(*updates_left) * seconds / static_cast<double>(std::max<int64_t>(updates_, 1));
  return interval;
}

void add_update(EpochSums& sums, int64_t epoch, const UpdateStats& stats) {
  if (sums.epoch != epoch) sums = {.epoch = epoch};
  if (stats.skipped) return;
  sums.loss += stats.loss;
  sums.label_loss += stats.label_loss;
  sums.target_tokens += stats.target_tokens;
}

EpochReport epoch_report(const ProgressState& progress) {
  const auto& sums = progress.epoch;
  const double tokens = static_cast<double>(std::max<int64_t>(sums.target_tokens, 1));
  return {.epoch = sums.epoch,
          .update = progress.update,
          .loss = sums.loss / tokens,
          .perplexity = std::exp(sums.label_loss / tokens)};
}

}  // namespace nmt
