#pragma once

#include "training/optimizers/optimizer.h"

namespace nmt {

/// Stochastic gradient descent with momentum (Sutskever et al. 2013, in PyTorch's form):
///   v = momentum v + g (v = g at first),   x = x - learning_rate v
class Sgd final : public Optimizer {
 public:
  struct Options {
    double momentum = 0.9;  ///< 0: none
    WeightDecay weight_decay = {};
  };
  Sgd(NamedTensors parameters, Options options);

  void step(double learning_rate) override;
  /// "momentum.NAME".
  NamedTensors state() const override;

 private:
  Options options_;
  std::vector<torch::Tensor> momenta_;
};

}  // namespace nmt
