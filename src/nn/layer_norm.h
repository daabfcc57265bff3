#pragma once

#include <torch/nn/module.h>
#include <torch/nn/pimpl.h>
#include <torch/types.h>

namespace nmt {

/// Layer normalisation over the last axis (Ba et al. 2016): weight (x - mean) / sqrt(variance + epsilon) + bias, with
/// the population variance; statistics in float32 for every type of x. x [..., model].
class LayerNormImpl : public torch::nn::Module {
 public:
  LayerNormImpl(int64_t model, double epsilon);
  torch::Tensor forward(const torch::Tensor& x) const;

  torch::Tensor weight, bias;  ///< [model]

 private:
  double epsilon_;
};
TORCH_MODULE(LayerNorm);

}  // namespace nmt
