#pragma once

#include "training/optimizer.h"

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

  void step(double learning_rate) override;
  /// Moments and step counters under "first_moment.NAME", "second_moment.NAME", "steps.NAME".
  NamedTensors state() const override;

 private:
  Options options_;
  std::vector<torch::Tensor> first_, second_, steps_;
};

}  // namespace nmt
