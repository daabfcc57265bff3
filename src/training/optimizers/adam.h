#pragma once

#include <optional>

#include "training/optimizers/optimizer.h"

namespace nmt {

/// Adam (Kingma and Ba 2015), fused over all parameters; with decoupled weight decay AdamW (Loshchilov and Hutter
/// 2019).
class Adam final : public Optimizer {
 public:
  struct Options {
    double beta1 = 0.9, beta2 = 0.999, epsilon = 1e-8;
    WeightDecay weight_decay = {};
  };
  Adam(NamedTensors parameters, Options options);

  void step(double learning_rate) override { launch(learning_rate, std::nullopt); }
  void step_unless(const torch::Tensor& skip, double learning_rate) override { launch(learning_rate, skip); }
  /// Moments and step counters under "first_moment.NAME", "second_moment.NAME", "steps.NAME".
  NamedTensors state() const override;

 private:
  void launch(double learning_rate, const std::optional<torch::Tensor>& skip);

  Options options_;
  std::vector<torch::Tensor> first_, second_, steps_;
};

}  // namespace nmt
