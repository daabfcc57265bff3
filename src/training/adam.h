#pragma once

#include <torch/types.h>

#include <string>
#include <vector>

#include "models/safetensors.h"

namespace nmt {

/// Adam (Kingma and Ba 2015) with decoupled weight decay (Loshchilov and Hutter 2019), fused over all parameters.
class Adam {
 public:
  struct Options {
    double beta1 = 0.9, beta2 = 0.999, epsilon = 1e-8;
    double weight_decay = 0;
  };
  Adam(NamedTensors parameters, Options options);

  /// One update with the parameters' gradients; a parameter without gradient stays as it is.
  void step(double learning_rate);
  /// Multiplies all gradients so that their joint 2-norm is at most max_norm (0 = leave them). Returns the norm before.
  double clip_gradients(double max_norm);
  void scale_gradients(double factor);
  void clear_gradients();

  /// Moments and step counters under "first_moment.NAME", "second_moment.NAME", "steps.NAME": what a checkpoint holds.
  NamedTensors state() const;

 private:
  NamedTensors parameters_;
  Options options_;
  std::vector<torch::Tensor> first_, second_, steps_;
};

}  // namespace nmt
