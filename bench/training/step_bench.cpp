// Target tokens a second of whole training updates on made-up sentences, without data preparation: what the model, the
// loss and the optimiser cost. Usage: step_bench [small|base] [bf16|fp32] [updates] [threads]
#include <ATen/Parallel.h>
#include <fmt/format.h>
#include <torch/utils.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <string>
#include <vector>

#include "base/random.h"
#include "models/model_directory.h"
#include "nn/device/cpu_allocator.h"
#include "nn/device/device.h"
#include "training/loop/objectives.h"
#include "training/loop/train_update.h"
#include "training/optimizers/optimizer.h"

namespace {

using namespace nmt;

// Sentences of 6 to 26 tokens, mean 15, sorted like a length bucket: about 4,096 padded tokens a batch.
Batch made_up_batch(int64_t length, int64_t vocabulary, uint64_t seed) {
  CounterRandom random{seed};
  const int64_t size = 4096 / length;
  Batch batch;
  batch.size = size, batch.source_width = batch.target_width = length;
  for (int64_t i = 0; i < size; ++i) {
    batch.indices.push_back(i);
    const int64_t real = length - static_cast<int64_t>(random.below(2));
    batch.source_lengths.push_back(real);
    batch.target_lengths.push_back(real);
    batch.source_tokens += real;
    batch.target_tokens += real;
    for (int64_t t = 0; t < length; ++t) {
      const auto id = [&] { return t < real ? 4 + static_cast<int64_t>(random.below(vocabulary - 4)) : 0; };
      batch.source.push_back(id());
      batch.target_in.push_back(id());
      batch.target_out.push_back(id());
    }
  }
  return batch;
}

}  // namespace

int main(int argc, char** argv) {
  const std::string size = argc > 1 ? argv[1] : "small", precision = argc > 2 ? argv[2] : "bf16";
  const int updates = argc > 3 ? std::atoi(argv[3]) : 20;
  reuse_freed_tensors();
  at::set_num_threads(argc > 4 ? std::atoi(argv[4]) : 2);
  Config config;
  config.model.d_model = 256, config.model.d_ff = 1024, config.model.num_blocks = 3, config.model.num_heads = 4;
  config.model.dropout_rate = 0.1, config.model.norm = "pre";
  if (size == "base")
    config.model.d_model = 512, config.model.d_ff = 2048, config.model.num_blocks = 6, config.model.num_heads = 8;
  config.training.clip_norm = 1;
  const int64_t vocabulary = 8000;
  auto model = make_model(config.model, vocabulary, vocabulary);
  initialise(*model, config.model, 1);
  model->set_compute_type(resolve_precision(Choice<TrainingPrecision>(precision), torch::kCPU));
  NamedTensors parameters;
  for (auto& item : model->named_parameters()) parameters.emplace_back(item.key(), item.value());
  Adam adam(parameters, {});
  const auto objective = make_objective(config.training);
  const UpdateParts parts{.model = *model,
                          .optimizer = adam,
                          .objective = *objective,
                          .clip_norm = config.training.clip_norm,
                          .tokens_at_once = tokens_at_once(config.model, torch::kCPU)};
  int64_t tokens = 0;
  auto start = std::chrono::steady_clock::now();
  for (int update = 1; update <= updates + 3; ++update) {
    if (update == 4) start = std::chrono::steady_clock::now(), tokens = 0;
    std::vector<Batch> batches{made_up_batch(6 + (update * 7) % 20, vocabulary, update)};
    const auto stats = train_update(parts, batches, {1, update}, 1e-3);
    tokens += stats.target_tokens;
  }
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  fmt::print("{} {}: {:.0f} target tokens/s, {:.1f} ms an update\n", size, precision, tokens / seconds,
             1e3 * seconds / updates);
}
