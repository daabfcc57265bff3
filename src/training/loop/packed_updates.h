#pragma once

#include <torch/types.h>

#include <map>
#include <memory>
#include <string>

#include "config/config.h"
#include "data/batches.h"
#include "models/interface/model.h"
#include "models/interface/safetensors.h"
#include "nn/device/recorded_graph.h"
#include "nn/ops/cross_entropy.h"
#include "nn/ops/forward_context.h"
#include "training/loop/objectives.h"
#include "training/optimizers/optimizer.h"
#include "training/packed/flat_weights.h"
#include "training/packed/packed_operations.h"
#include "training/packed/packed_transformer.h"

namespace nmt {

/// Why the kernels cannot train this, such as "model.activation: gelu"; empty: they can.
std::string reason_against_packed_updates(const Config& config, int64_t processes);

/// The kernels of a device; null where they cannot train this there, and why. They can where a card of compute
/// capability 8.0 or newer trains in bfloat16, nothing is to be said against the configuration, and each kernel
/// computes there what its twin does (check_kernels).
struct PackedSupport {
  std::shared_ptr<PackedOperations> operations = nullptr;
  std::string reason = {};
  bool is_wrong = false;  ///< the kernels should have been able to
};
PackedSupport packed_update_supports(const Config& config, torch::Device device, at::ScalarType precision,
                                     int64_t processes);
/// The last of these questions.
PackedSupport checked_operations(std::shared_ptr<PackedOperations> operations, const ModelConfig& config,
                                 torch::Device device, at::ScalarType type);

/// Gradients of micro-batches on packed words, in place of the model's own forward pass and autograd.
class PackedUpdates {
 public:
  /// From here on the model's parameters and their gradients are parts of FlatWeights. type: of activations. config and
  /// model outlive this.
  PackedUpdates(const Config& config, const TranslationModel& model, std::shared_ptr<PackedOperations> operations,
                at::ScalarType type);

  /// The optimizer of the weights, which this outlives.
  std::unique_ptr<Optimizer> make_optimizer() const;

  /// Whether no sentence of it is longer than a tile, or than there are positions. Else the model and autograd take it:
  /// their gradients go to the same place.
  bool takes(const Batch& batch) const;
  /// Adds the gradients of the loss of a batch, times scale. Returns what loss_row() does. Nothing waits for the
  /// device. Small batches, of which launches are most of the time, are filled up to a multiple of 512 words and replay
  /// what was recorded for that size.
  torch::Tensor add_gradients(const Batch& batch, double scale, ForwardContext& context);

 private:
  torch::Tensor replay(const PackedBatch& plan, int64_t number);

  const Config& config_;
  std::shared_ptr<PackedOperations> operations_;
  NamedTensors parameters_;
  Smoothing smoothing_;
  WordDropout word_dropout_;
  int64_t classes_, largest_tile_;
  FlatWeights weights_;
  PackedTransformer transformer_;
  RecordedGraph graph_;
  std::map<int64_t, PackedBatch> recorded_;  // what each recording reads
  torch::Tensor sums_;                       // and what it writes
};

}  // namespace nmt
