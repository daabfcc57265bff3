#pragma once

#include <torch/types.h>

#include "training/optimizers/optimizer.h"
#include "training/packed/flat_weights.h"
#include "training/packed/packed_operations.h"

namespace nmt {

/// Adam of all weights in one launch, with clipping and their copy in 16 bits. Its state has the names and the shapes
/// of Adam's: either continues what the other has left.
class PackedAdam final : public Optimizer {
 public:
  /// parameters: those of `weights`. Weight decay is decoupled. All that is given outlives this.
  PackedAdam(NamedTensors parameters, const FlatWeights& weights, PackedOperations& operations, Adam::Options options);

  void step(double learning_rate) override;
  void step_unless(const torch::Tensor& skip, double learning_rate) override;
  NamedTensors state() const override;
  /// The gradients themselves stay as they are: the next step takes the factor into account.
  torch::Tensor clip_gradients(double max_norm) override;
  /// To zero: each stays a part of the array of all.
  void clear_gradients() override;

 private:
  void measure_gradients();

  const FlatWeights& weights_;
  PackedOperations& operations_;
  torch::Tensor first_, second_;         // of all weights
  torch::Tensor steps_, steps_of_each_;  // int64 [1]; float32 [parameters], as a checkpoint has them
  torch::Tensor betas_, options_, control_, parts_;
  bool is_measured_ = false;  // parts_ are those of the gradients that are there
};

}  // namespace nmt
