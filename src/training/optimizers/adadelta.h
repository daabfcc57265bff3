#pragma once

#include "training/optimizers/optimizer.h"

namespace nmt {

/// Adadelta (Zeiler 2012, algorithm 1). With g the gradient of a parameter x and E[.] means that decay by rho:
///   E[g²] = rho E[g²] + (1 - rho) g²
///   D = -sqrt(E[D²] + epsilon) / sqrt(E[g²] + epsilon) g
///   E[D²] = rho E[D²] + (1 - rho) D²
///   x = x + learning_rate D
/// The paper has no learning rate: 1.
class Adadelta final : public Optimizer {
 public:
  struct Options {
    double rho = 0.95, epsilon = 1e-6;
    WeightDecay weight_decay = {};
  };
  Adadelta(NamedTensors parameters, Options options);

  void step(double learning_rate) override;
  /// Both means under "mean_square.NAME", "mean_square_change.NAME".
  NamedTensors state() const override;

 private:
  Options options_;
  std::vector<torch::Tensor> squares_, changes_;
};

}  // namespace nmt
