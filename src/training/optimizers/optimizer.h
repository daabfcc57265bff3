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
  /// What a checkpoint holds: tensors that the caller may write to. A new optimizer that is given them goes on in the
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

}  // namespace nmt
