#include "training/train_update.h"

#include <c10/core/InferenceMode.h>
#include <torch/utils.h>

#include <algorithm>
#include <cmath>
#include <new>

#include "base/error.h"

namespace nmt {
namespace {

/// What the losses of one batch come to; numbers that can be summed over processes.
struct BatchSums {
  double loss = 0, label_loss = 0, correct = 0;
  double out_of_memory = 0;  ///< 1: it did not fit, there are no sums
};

BatchSums read(const LossSums& sums) {
  return {sums.loss.item<double>(), sums.label_loss.item<double>(), static_cast<double>(sums.correct.item<int64_t>())};
}

void add(UpdateStats& stats, const BatchSums& sums, const Batch& batch) {
  stats.loss += sums.loss;
  stats.label_loss += sums.label_loss;
  stats.correct += static_cast<int64_t>(sums.correct);
  stats.source_tokens += batch.source_tokens;
  stats.target_tokens += batch.target_tokens;
  stats.padded_tokens += batch.size * (batch.source_width + batch.target_width);
}

bool is_out_of_memory(const std::exception& error) {
  if (dynamic_cast<const std::bad_alloc*>(&error) || dynamic_cast<const c10::OutOfMemoryError*>(&error)) return true;
  const std::string what = error.what();
  return what.find("can't allocate memory") != std::string::npos || what.find("out of memory") != std::string::npos;
}

// Rows [begin, end) of a batch, with the same widths.
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
  for (const auto n : part.source_lengths) part.source_tokens += n;
  for (const auto n : part.target_lengths) part.target_tokens += n;
  return part;
}

/// The gradients of the mean loss per target token of all batches.
class Gradients {
 public:
  Gradients(TranslationModel& model, Optimizer& optimizer, const TrainingConfig& config, const UpdateKey& key,
            torch::Device device, GradientBuckets* processes)
      : model_(model), optimizer_(optimizer), config_(config), key_(key), device_(device), processes_(processes) {}

  /// Of this process's batches, from scratch, up to the first that does not fit into memory, and by them of all
  /// processes' where there are several. The sums of each batch.
  std::vector<BatchSums> compute(std::span<const Batch> batches) {
    int64_t tokens = 0;
    for (const auto& batch : batches) tokens += batch.target_tokens;
    std::vector<BatchSums> sums(batches.size());
    optimizer_.clear_gradients();
    if (!processes_) {
      for (size_t at = 0; at < batches.size(); ++at)
        if (!backward(batches, at, tokens, sums)) break;
      return sums;
    }
    auto& group = processes_->group();
    const auto size = static_cast<size_t>(group.size()), rank = static_cast<size_t>(group.rank());
    bool fits = true;
    group.expect_progress(true);
    for (size_t first = 0; first < batches.size(); first += size) {
      const size_t count = std::min(size, batches.size() - first);
      processes_->begin_round(static_cast<int64_t>(count), first + count == batches.size());
      // Without memory for one, what it owes the others is given all the same: they wait for it.
      if (rank < count && fits) fits = backward(batches, first + rank, tokens, sums);
      processes_->end_round();
    }
    processes_->finish();
    group.sum({reinterpret_cast<double*>(sums.data()), sums.size() * sizeof(BatchSums) / sizeof(double)});
    group.expect_progress(false);
    return sums;
  }

 private:
  // False: it does not fit into memory.
  bool backward(std::span<const Batch> batches, size_t at, int64_t tokens, std::vector<BatchSums>& sums) {
    try {
      Pass pass(key_.seed, key_.update, static_cast<int64_t>(at));
      pass.set_teacher_forcing(config_.teacher_forcing);
      if (device_.is_cuda()) torch::manual_seed(Pass(pass).next_key());
      const auto losses = training_loss(model_, to_tensors(batches[at], device_), pass, config_);
      (losses.loss / static_cast<double>(std::max<int64_t>(tokens, 1))).backward();
      sums[at] = read(losses);
    } catch (const std::exception& error) {
      if (!is_out_of_memory(error)) throw;
      sums[at] = {.out_of_memory = 1};
    }
    return sums[at].out_of_memory == 0;
  }

  TranslationModel& model_;
  Optimizer& optimizer_;
  const TrainingConfig& config_;
  const UpdateKey& key_;
  torch::Device device_;
  GradientBuckets* processes_;
};

// Cuts those in two that did not fit. True: there are some.
bool split_those_that_do_not_fit(std::vector<Batch>& batches, const std::vector<BatchSums>& sums) {
  bool split = false;
  for (size_t at = sums.size(); at-- > 0;) {
    if (sums[at].out_of_memory == 0) continue;
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

UpdateStats train_update(TranslationModel& model, Optimizer& optimizer, std::vector<Batch> batches,
                         const TrainingConfig& config, double learning_rate, const UpdateKey& key, torch::Device device,
                         GradientBuckets* processes) {
  UpdateStats stats;
  Gradients gradients(model, optimizer, config, key, device, processes);
  auto sums = gradients.compute(batches);
  // Part of a batch's gradients may have been added already: start over.
  for (; split_those_that_do_not_fit(batches, sums); stats.split = true) sums = gradients.compute(batches);
  for (size_t at = 0; at < batches.size(); ++at) add(stats, sums[at], batches[at]);
  model.finish_gradients();
  stats.gradient_norm = optimizer.clip_gradients(config.clip_norm);
  stats.skipped = !std::isfinite(stats.loss) || !std::isfinite(stats.gradient_norm);
  if (!stats.skipped) optimizer.step(learning_rate);
  return stats;
}

UpdateStats evaluate(TranslationModel& model, std::span<const Batch> batches, const Smoothing& smoothing,
                     torch::Device device) {
  const c10::InferenceMode inference;
  UpdateStats stats;
  for (const auto& batch : batches) {
    Pass no_dropout;
    add(stats, read(reference_loss(model, to_tensors(batch, device), no_dropout, smoothing)), batch);
  }
  return stats;
}

}  // namespace nmt
