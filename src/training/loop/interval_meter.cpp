#include "training/loop/interval_meter.h"

#include <ATen/ops/_foreach_norm.h>
#include <ATen/ops/histc.h>
#include <ATen/ops/linalg_vector_norm.h>
#include <ATen/ops/stack.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "base/error.h"

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

namespace {

constexpr int64_t kBuckets = 30;

// [tensors] 2-norms, float64 on the CPU: one wait for the device.
std::vector<double> norms(const std::vector<torch::Tensor>& tensors) {
  if (tensors.empty()) return {};
  const auto values = at::stack(at::_foreach_norm(tensors)).to(torch::kCPU, torch::kFloat64);
  const double* first = values.const_data_ptr<double>();
  return {first, first + values.numel()};
}

std::optional<TensorHistogram> histogram(const std::string& name, const torch::Tensor& tensor) {
  const auto values = tensor.detach().to(torch::kFloat32);
  const double norm = at::linalg_vector_norm(values).item<double>();  // quicker than a sum of squares
  TensorHistogram histogram{.name = name,
                            .min = values.min().item<double>(),
                            .max = values.max().item<double>(),
                            .sum = values.sum().item<double>(),
                            .sum_of_squares = norm * norm};
  if (!std::isfinite(histogram.min) || !std::isfinite(histogram.max)) return std::nullopt;
  if (histogram.min == histogram.max) {
    histogram.limits = {histogram.max};
    histogram.counts = {static_cast<double>(values.numel())};
    return histogram;
  }
  const auto counts =
      at::histc(values, kBuckets, histogram.min, histogram.max).to(torch::kCPU, torch::kFloat64).contiguous();
  const double* first = counts.const_data_ptr<double>();
  histogram.counts.assign(first, first + kBuckets);
  const double width = (histogram.max - histogram.min) / kBuckets;
  for (int64_t i = 1; i <= kBuckets; ++i)
    histogram.limits.push_back(i < kBuckets ? histogram.min + width * static_cast<double>(i) : histogram.max);
  return histogram;
}

}  // namespace

std::vector<GroupNorm> group_norms(const NamedTensors& parameters) {
  const torch::NoGradGuard no_grad;
  std::vector<torch::Tensor> weights, gradients;
  for (const auto& [name, parameter] : parameters) {
    weights.push_back(parameter.detach());
    if (parameter.grad().defined()) gradients.push_back(parameter.grad());
  }
  const auto of_weights = norms(weights), of_gradients = norms(gradients);
  std::vector<GroupNorm> groups;  // squares at first
  for (size_t i = 0, with_gradient = 0; i < parameters.size(); ++i) {
    const auto& [name, parameter] = parameters[i];
    const auto group = name.substr(0, name.find('.'));
    auto found = std::find_if(groups.begin(), groups.end(), [&](const auto& g) { return g.group == group; });
    if (found == groups.end()) found = groups.insert(groups.end(), {.group = group});
    found->weights += of_weights[i] * of_weights[i];
    if (!parameter.grad().defined()) continue;
    found->gradients += of_gradients[with_gradient] * of_gradients[with_gradient];
    ++with_gradient;
  }
  for (auto& group : groups) group.weights = std::sqrt(group.weights), group.gradients = std::sqrt(group.gradients);
  return groups;
}

std::vector<TensorHistogram> tensor_histograms(const NamedTensors& parameters) {
  const torch::NoGradGuard no_grad;
  std::vector<TensorHistogram> histograms;
  const auto add = [&](const std::string& name, const torch::Tensor& tensor) {
    if (!tensor.defined() || tensor.numel() == 0) return;
    if (auto of_tensor = histogram(name, tensor)) histograms.push_back(std::move(*of_tensor));
  };
  for (const auto& [name, parameter] : parameters) {
    add("weights/" + name, parameter);
    add("gradients/" + name, parameter.grad());
  }
  return histograms;
}

}  // namespace nmt
