#include "training/loop/train_update.h"

#include <ATen/Parallel.h>
#include <ATen/ops/_amp_update_scale.h>
#include <ATen/ops/_foreach_mul.h>
#include <ATen/ops/full.h>
#include <ATen/ops/zeros.h>

#include <algorithm>
#include <cmath>
#include <new>

#include "base/error.h"
#include "models/loss.h"
#include "nn/device/cpu_allocator.h"
#include "nn/device/device.h"
#include "training/loop/packed_updates.h"

namespace nmt {

LossScale::LossScale(torch::Device device, Options options)
    : scale_(at::full({}, options.initial, torch::TensorOptions(torch::kFloat32).device(device))),
      good_updates_(at::zeros({}, torch::TensorOptions(torch::kInt32).device(device))),
      growth_(options.growth) {}

void LossScale::unscale(const std::vector<torch::Tensor>& gradients) const {
  const torch::NoGradGuard no_grad;
  if (!gradients.empty()) at::_foreach_mul_(gradients, scale_.reciprocal());
}

void LossScale::follow(const torch::Tensor& skipped) {
  const torch::NoGradGuard no_grad;
  constexpr double kUp = 2, kDown = 0.5;
  at::_amp_update_scale_(scale_, good_updates_, skipped, kUp, kDown, growth_);
}

namespace {

struct Outcome {
  torch::Tensor sums = {};  ///< of loss_row(); undefined: not computed, for lack of memory here or in a batch before
  bool out_of_memory = false;
};

// sums: float64 [batches, 3] on the CPU.
void add(UpdateStats& stats, const torch::Tensor& sums) {
  for (int64_t batch = 0; batch < sums.size(0); ++batch) {
    const double* values = sums.const_data_ptr<double>() + batch * sums.size(1);
    stats.loss += values[0];
    stats.label_loss += values[1];
    stats.correct += static_cast<int64_t>(values[2]);
  }
}

void add(UpdateStats& stats, const Batch& batch) {
  stats.source_tokens += batch.source_tokens;
  stats.target_tokens += batch.target_tokens;
  stats.padded_tokens += batch.size * (batch.source_width + batch.target_width);
}

/// The loss of micro-batch `at` of an update.
LossSums loss_of(const UpdateParts& parts, const UpdateKey& key, const Batch& batch, size_t at) {
  ForwardContext context(key.seed, key.update, static_cast<int64_t>(at));
  context.set_teacher_forcing(parts.teacher_forcing);
  if (!parts.device.is_cpu()) set_seed(parts.device, ForwardContext(context).next_key());
  return parts.objective.loss(parts.model, to_tensors(batch, parts.device), context);
}

/// The gradients of the mean loss of all batches.
class Gradients {
 public:
  Gradients(const UpdateParts& parts, const UpdateKey& key) : parts_(parts), key_(key) {}

  /// The gradients of this process's batches, from scratch, up to the first that does not fit into memory, and by them
  /// of all processes' where there are several.
  std::vector<Outcome> compute(std::span<const Batch> batches) {
    const bool of_pairs = parts_.loss_mean == LossMean::kSentences;
    int64_t count_of_all = 0;
    for (const auto& batch : batches) count_of_all += of_pairs ? batch.size : batch.target_tokens;
    std::vector<Outcome> outcomes(batches.size());
    parts_.optimizer.clear_gradients();
    auto* processes = parts_.processes;
    if (!processes) {
      for (size_t at = 0; at < batches.size(); ++at) {
        if (at > 0 && is_interrupted()) throw Interrupted();
        if (!backward(batches, at, count_of_all, outcomes)) break;
      }
      return outcomes;
    }
    auto& group = processes->group();
    const auto size = static_cast<size_t>(group.size()), rank = static_cast<size_t>(group.rank());
    bool fits = true;
    group.expect_progress(true);
    for (size_t first = 0, round = 0; first < batches.size(); first += size, ++round) {
      if (round > 0 && round % kBatchesBetweenQuestions == 0 && is_interrupted()) {
        if (group.adds_in_order()) processes->finish();  // sums are on their way
        group.expect_progress(false);
        throw Interrupted();
      }
      const size_t count = std::min(size, batches.size() - first);
      processes->begin_round(static_cast<int64_t>(count), first + count == batches.size());
      // Without memory for one, what it owes the others is given all the same: they wait for it.
      if (rank < count && fits) fits = backward(batches, first + rank, count_of_all, outcomes);
      processes->end_round();
    }
    processes->finish();
    outcomes = summed(group, outcomes);
    group.expect_progress(false);
    return outcomes;
  }

 private:
  bool is_interrupted() const { return parts_.is_interrupted && parts_.is_interrupted(); }

  // Over the processes: each has those of its own batches.
  static std::vector<Outcome> summed(ProcessGroup& group, const std::vector<Outcome>& own) {
    const auto batches = static_cast<int64_t>(own.size());
    auto numbers = torch::zeros({batches, 4}, torch::kFloat64);  // loss_row(), and 1 for what did not fit
    for (int64_t at = 0; at < batches; ++at) {
      if (own[at].sums.defined()) numbers[at].narrow(0, 0, 3).copy_(own[at].sums);
      if (own[at].out_of_memory) numbers[at][3] = 1;
    }
    group.sum({numbers.mutable_data_ptr<double>(), static_cast<size_t>(numbers.numel())});
    std::vector<Outcome> all;
    for (const auto& row : numbers.unbind())
      all.push_back({.sums = row.narrow(0, 0, 3), .out_of_memory = row[3].item<double>() > 0});
    return all;
  }

  // False: it does not fit into memory.
  bool backward(std::span<const Batch> batches, size_t at, int64_t count, std::vector<Outcome>& outcomes) {
    try {
      const auto number = static_cast<double>(std::max<int64_t>(count, 1));
      if (parts_.packed && parts_.packed->takes(batches[at])) {
        ForwardContext context(key_.seed, key_.update, static_cast<int64_t>(at));
        outcomes[at].sums = parts_.packed->add_gradients(batches[at], 1 / number, context);
      } else {
        const auto losses = loss_of(parts_, key_, batches[at], at);
        const auto mean = losses.loss / number;
        (parts_.loss_scale ? parts_.loss_scale->scaled(mean) : mean).backward();
        outcomes[at].sums = loss_row(losses);
      }
    } catch (const std::exception& error) {
      if (!is_out_of_memory(error)) throw;
      give_back_freed_tensors();
      outcomes[at].out_of_memory = true;
    }
    return !outcomes[at].out_of_memory;
  }

  const UpdateParts& parts_;
  const UpdateKey& key_;
};

// Batches of at most so many tokens, in the same order.
std::vector<Batch> in_parts(std::vector<Batch> batches, int64_t tokens_at_once) {
  std::vector<Batch> all;
  for (auto& batch : batches) {
    const int64_t tokens = batch.size * std::max(batch.source_width, batch.target_width);
    const int64_t parts = (tokens - 1) / tokens_at_once + 1, rows = (batch.size - 1) / parts + 1;
    if (rows >= batch.size)
      all.push_back(std::move(batch));
    else
      for (int64_t begin = 0; begin < batch.size; begin += rows)
        all.push_back(rows_of(batch, begin, std::min(batch.size, begin + rows)));
  }
  return all;
}

// Cuts those in two that did not fit. True: there are some.
bool split_those_that_do_not_fit(std::vector<Batch>& batches, const std::vector<Outcome>& outcomes) {
  bool split = false;
  for (size_t at = outcomes.size(); at-- > 0;) {
    if (!outcomes[at].out_of_memory) continue;
    const Batch whole = std::move(batches[at]);
    if (whole.size < 2)
      throw MachineError(
          "out of memory on a single sentence pair; lower data.maxlen1, data.maxlen2 or the model's size");
    batches[at] = rows_of(whole, 0, whole.size / 2);
    batches.insert(batches.begin() + static_cast<int64_t>(at) + 1, rows_of(whole, whole.size / 2, whole.size));
    split = true;
  }
  return split;
}

}  // namespace

UpdateStats& UpdateStats::operator+=(const UpdateStats& other) {
  loss += other.loss;
  label_loss += other.label_loss;
  correct += other.correct;
  source_tokens += other.source_tokens;
  target_tokens += other.target_tokens;
  padded_tokens += other.padded_tokens;
  return *this;
}

UpdateStats LaunchedUpdate::stats() const {
  UpdateStats stats = known;
  add(stats, sums.cpu());
  stats.gradient_norm = norm.item<double>();
  stats.skipped = skipped.item<float>() != 0;
  if (scale.defined()) stats.loss_scale = scale.item<double>();
  return stats;
}

int64_t tokens_at_once(const ModelConfig& model, torch::Device device) {
  constexpr int64_t kTokens = 2048, kTokensOfThread = 256;
  if (!device.is_cpu() || model.architecture != Architecture::kTransformer) return 0;
  return std::max(kTokens, kTokensOfThread * at::get_num_threads());
}

LaunchedUpdate launch_update(const UpdateParts& parts, std::vector<Batch> batches, const UpdateKey& key,
                             double learning_rate) {
  LaunchedUpdate update;
  if (parts.tokens_at_once > 0) batches = in_parts(std::move(batches), parts.tokens_at_once);
  Gradients gradients(parts, key);
  auto outcomes = gradients.compute(batches);
  // Part of a batch's gradients may have been added already: start over.
  for (; split_those_that_do_not_fit(batches, outcomes); update.known.split = true)
    outcomes = gradients.compute(batches);
  std::vector<torch::Tensor> sums;
  for (const auto& outcome : outcomes) sums.push_back(outcome.sums);
  for (const auto& batch : batches) add(update.known, batch);
  update.sums = torch::stack(sums);
  parts.model.finish_gradients();
  if (parts.loss_scale) {
    update.scale = parts.loss_scale->value().clone();
    parts.loss_scale->unscale(parts.optimizer.gradients());
  }
  update.norm = parts.optimizer.clip_gradients(parts.clip_norm);
  const auto finite =
      copy_to_device(at::isfinite(update.sums.select(1, 0).sum()), parts.device).logical_and(at::isfinite(update.norm));
  update.skipped = finite.logical_not().to(torch::kFloat32);
  parts.optimizer.step_unless(update.skipped, learning_rate);
  if (parts.loss_scale) parts.loss_scale->follow(update.skipped);
  return update;
}

UpdateStats train_update(const UpdateParts& parts, std::vector<Batch> batches, const UpdateKey& key,
                         double learning_rate) {
  return launch_update(parts, std::move(batches), key, learning_rate).stats();
}

Batch rows_of(const Batch& batch, int64_t begin, int64_t end) {
  const auto cut = [&](const std::vector<int64_t>& x, int64_t width) {
    return std::vector<int64_t>(x.begin() + begin * width, x.begin() + end * width);
  };
  Batch part{.size = end - begin,
             .source_width = batch.source_width,
             .target_width = batch.target_width,
             .indices = cut(batch.indices, 1),
             .source = cut(batch.source, batch.source_width),
             .target_in = cut(batch.target_in, batch.target_width),
             .target_out = cut(batch.target_out, batch.target_width),
             .source_lengths = cut(batch.source_lengths, 1),
             .target_lengths = cut(batch.target_lengths, 1)};
  for (const auto& link : batch.links)
    if (link.row >= begin && link.row < end) part.links.push_back({link.row - begin, link.target, link.source});
  for (const auto n : part.source_lengths) part.source_tokens += n;
  for (const auto n : part.target_lengths) part.target_tokens += n;
  return part;
}

}  // namespace nmt
