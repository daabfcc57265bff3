#include "training/loop/interval_meter.h"

#include <algorithm>
#include <cmath>

namespace nmt {

namespace {

double per_target_token(double sum, const UpdateStats& stats) {
  return sum / static_cast<double>(std::max<int64_t>(stats.target_tokens, 1));
}

}  // namespace

void IntervalMeter::begin() {
  all_ = finite_ = last_ = {};
  updates_ = 0;
  start_ = clock_();
}

void IntervalMeter::add(const UpdateStats& stats) {
  all_ += stats;
  ++updates_;
  if (stats.skipped && finite_.target_tokens > 0) return;  // last_ stays that of an update with figures
  if (!stats.skipped) finite_ += stats;
  last_ = stats;
}

TrainingInterval IntervalMeter::measured(std::optional<int64_t> updates_left) const {
  const double seconds = std::max(clock_() - start_, 1e-9);
  const UpdateStats& figures = finite_.target_tokens > 0 ? finite_ : last_;
  TrainingInterval interval{.loss = per_target_token(figures.loss, figures),
                            .perplexity = std::exp(per_target_token(figures.label_loss, figures)),
                            .accuracy = per_target_token(static_cast<double>(figures.correct), figures),
                            .gradient_norm = last_.gradient_norm,
                            .source_tokens_per_second = static_cast<double>(all_.source_tokens) / seconds,
                            .target_tokens_per_second = static_cast<double>(all_.target_tokens) / seconds,
                            .real_token_share = static_cast<double>(all_.source_tokens + all_.target_tokens) /
                                                static_cast<double>(std::max<int64_t>(all_.padded_tokens, 1))};
  if (updates_left)
    interval.seconds_left =
        static_cast<double>(*updates_left) * seconds / static_cast<double>(std::max<int64_t>(updates_, 1));
  return interval;
}

UpdateReport update_report(const UpdateStats& stats, int64_t epoch, int64_t update, double learning_rate) {
  return {.epoch = epoch,
          .update = update,
          .loss = per_target_token(stats.loss, stats),
          .perplexity = std::exp(per_target_token(stats.label_loss, stats)),
          .accuracy = per_target_token(static_cast<double>(stats.correct), stats),
          .learning_rate = learning_rate,
          .gradient_norm = stats.gradient_norm,
          .source_tokens = stats.source_tokens,
          .target_tokens = stats.target_tokens,
          .skipped = stats.skipped};
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
