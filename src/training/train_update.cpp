#include "training/train_update.h"

#include <c10/core/InferenceMode.h>
#include <torch/utils.h>

#include <cmath>
#include <new>

#include "base/error.h"

namespace nmt {
namespace {

void add(UpdateStats& stats, const LossSums& sums, const Batch& batch) {
  stats.loss += sums.loss.item<double>();
  stats.label_loss += sums.label_loss.item<double>();
  stats.correct += sums.correct.item<int64_t>();
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

// Gradients of all batches, from scratch. `at` is the batch being worked on: after an exception, the one that failed.
UpdateStats accumulate(TranslationModel& model, Optimizer& optimizer, std::span<const Batch> batches,
                       const TrainingConfig& config, const UpdateKey& key, torch::Device device, size_t& at) {
  int64_t tokens = 0;
  for (const auto& batch : batches) tokens += batch.target_tokens;
  UpdateStats stats;
  optimizer.clear_gradients();
  for (at = 0; at < batches.size(); ++at) {
    Pass pass(key.seed, key.update, static_cast<int64_t>(at));
    pass.set_teacher_forcing(config.teacher_forcing);
    if (device.is_cuda()) torch::manual_seed(Pass(pass).next_key());
    const auto sums = training_loss(model, to_tensors(batches[at], device), pass, config);
    (sums.loss / static_cast<double>(std::max<int64_t>(tokens, 1))).backward();
    add(stats, sums, batches[at]);
  }
  return stats;
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
                         const TrainingConfig& config, double learning_rate, const UpdateKey& key,
                         torch::Device device) {
  UpdateStats stats;
  bool split = false;
  for (size_t at = 0;;) {
    try {
      stats = accumulate(model, optimizer, batches, config, key, device, at);
      break;
    } catch (const std::exception& error) {
      if (!is_out_of_memory(error)) throw;
    }
    // Part of a batch's gradients may have been added already: start over with that batch in two halves.
    const Batch whole = std::move(batches.at(at));
    if (whole.size < 2)
      throw MachineError(
          "out of memory on a single sentence pair; lower data.maxlen1, data.maxlen2 or the model's size");
    batches[at] = rows_of(whole, 0, whole.size / 2);
    batches.insert(batches.begin() + static_cast<int64_t>(at) + 1, rows_of(whole, whole.size / 2, whole.size));
    split = true;
  }
  model.finish_gradients();
  stats.split = split;
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
    add(stats, reference_loss(model, to_tensors(batch, device), no_dropout, smoothing), batch);
  }
  return stats;
}

}  // namespace nmt
