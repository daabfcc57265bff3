#pragma once

#include <torch/nn/module.h>
#include <torch/nn/pimpl.h>
#include <torch/types.h>

#include <memory>
#include <span>
#include <utility>

#include "nn/ops/activation.h"
#include "nn/ops/initial_values.h"
#include "nn/ops/packed_matrix.h"

namespace nmt {

/// y = x weightᵀ + bias in x's type: x [..., in], weight [out, in] and bias [out] (or undefined) are float masters.
torch::Tensor linear(const torch::Tensor& x, const torch::Tensor& weight, const torch::Tensor& bias);

/// Several maps of one x, side by side: [..., out of all of them]. Either all have a bias or none.
torch::Tensor linear(const torch::Tensor& x, std::span<const AffineMap> maps);

/// The same as of one map; what has_decoding_kernel() takes goes through `packed`.
torch::Tensor linear(const torch::Tensor& x, const torch::Tensor& weight, const torch::Tensor& bias,
                     PackedMatrix& packed);

/// A trained affine map.
class LinearImpl : public torch::nn::Module, public KeepsPackedWeights, public HasInitialValues {
 public:
  enum class Bias { kNo, kYes };
  LinearImpl(int64_t in, int64_t out, Bias with_bias);
  torch::Tensor forward(const torch::Tensor& x, const Epilogue& epilogue = {});

  /// Another way to the same product for a while (see StepwiseGradients); nullptr: the layer's own.
  class Product {
   public:
    virtual ~Product() = default;
    virtual torch::Tensor multiply(const torch::Tensor& x) = 0;
  };
  void replace_product(std::unique_ptr<Product> product) { product_ = std::move(product); }
  void set_packing(const Packing& packing) override { packed_.set_packing(packing); }
  void reset_parameters(const InitialValues& values, at::Generator& generator) override;

  torch::Tensor weight;  ///< [out, in]
  torch::Tensor bias;    ///< [out], or undefined

 private:
  PackedMatrix packed_;
  std::unique_ptr<Product> product_;
};
TORCH_MODULE(Linear);

}  // namespace nmt
