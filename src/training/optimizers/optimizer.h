#pragma once

#include <torch/types.h>

#include <memory>
#include <string>
#include <vector>

#include "models/interface/safetensors.h"

namespace nmt {

/// How weights are pulled towards zero, those that have a gradient.
struct WeightDecay {
  WeightDecay(double rate = 0, bool decoupled = true) : rate(rate), decoupled(decoupled) {}
  double rate;
  /// learning_rate * rate of the weight is taken off it (Loshchilov and Hutter 2019); else rate * weight is added to
  /// the gradient.
  bool decoupled;
};

/// Changes parameters by their gradients.
class Optimizer {
 public:
  explicit Optimizer(NamedTensors parameters) : parameters_(std::move(parameters)) {}
  virtual ~Optimizer() = default;

  /// One update with the parameters' gradients; a parameter without gradient stays as it is.
  virtual void step(double learning_rate) = 0;
  /// The same, or nothing where `skip` is 1: a float32 scalar on the parameters' device. The host waits for no GPU:
  /// where an optimizer cannot leave that question to it, the step is made and taken back there.
  virtual void step_unless(const torch::Tensor& skip, double learning_rate);
  /// What a checkpoint holds: tensors that the caller may write to. A new optimizer that is given them continues in the
  /// same bits.
  virtual NamedTensors state() const = 0;

  /// Multiplies all gradients so that their joint 2-norm is at most max_norm (0 = leave them). Returns the norm before,
  /// a float32 scalar on the parameters' device.
  torch::Tensor clip_gradients(double max_norm);
  void clear_gradients();
  std::vector<torch::Tensor> gradients() const;  ///< of the parameters that have one

 protected:
  const NamedTensors& parameters() const { return parameters_; }
  /// Before a step: changes weights or gradients.
  void decay_weights(const WeightDecay& decay, double learning_rate);

 private:
  NamedTensors parameters_;
};

/// 0: a float64 scalar on the device of parameters.
torch::Tensor count_of_steps(const NamedTensors& parameters);

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
