#pragma once

#include <torch/nn/module.h>
#include <torch/nn/pimpl.h>
#include <torch/types.h>

#include "config/kinds.h"
#include "nn/inference/weights.h"
#include "nn/ops/initial_values.h"

namespace nmt {

/// Normalisation over the last axis, statistics in float32 for every type of x; weight starts at one, bias at zero.
/// x [..., model].
///   layer (Ba et al. 2016): weight (x - mean) / sqrt(variance + epsilon) + bias, with the population variance
///   rms (Zhang and Sennrich 2019, eq. 4): weight x / sqrt(mean of squares + epsilon)
class LayerNormImpl : public torch::nn::Module, public HasInitialValues {
 public:
  LayerNormImpl(int64_t model, double epsilon, NormForm form = NormForm::kLayer);
  torch::Tensor forward(const torch::Tensor& x) const;
  void reset_parameters(const InitialValues& values, at::Generator& generator) override;
  inference::NormWeights inference_weights() const {
    return {.weight = weight.const_data_ptr<float>(),
            .bias = bias.defined() ? bias.const_data_ptr<float>() : nullptr,
            .epsilon = static_cast<float>(epsilon_)};
  }

  torch::Tensor weight;  ///< [model]
  torch::Tensor bias;    ///< [model]; undefined for rms

 private:
  torch::Tensor normalise_rows(const torch::Tensor& x) const;

  double epsilon_;
};
TORCH_MODULE(LayerNorm);

}  // namespace nmt
