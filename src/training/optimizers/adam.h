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

/// Rectified Adam (Liu et al. 2020, algorithm 2, in PyTorch's form): Adam whose adaptive rate comes in as its variance
/// becomes tractable. With m, v Adam's moments, b1, b2 their decays and r_t = r_inf - 2 t b2^t / (1 - b2^t),
/// r_inf = 2 / (1 - b2) - 1:
///   r_t > 5:  x = x - learning_rate m / (1 - b1^t) l_t sqrt(1 - b2^t) / (sqrt(v) + epsilon)
///             with l_t = sqrt((r_t - 4) (r_t - 2) r_inf / ((r_inf - 4) (r_inf - 2) r_t))
///   else:     x = x - learning_rate m / (1 - b1^t)
class RAdam final : public Optimizer {
 public:
  struct Options {
    double beta1 = 0.9, beta2 = 0.999, epsilon = 1e-8;
    WeightDecay weight_decay = {};
  };
  RAdam(NamedTensors parameters, Options options);

  void step(double learning_rate) override;
  /// "first_moment.NAME", "second_moment.NAME", and "steps".
  NamedTensors state() const override;

 private:
  Options options_;
  std::vector<torch::Tensor> first_, second_;
  void step_on_device(double learning_rate);

  torch::Tensor steps_;  // float64 scalar on the parameters' device
};

}  // namespace nmt
