#pragma once

#include <torch/nn/module.h>
#include <torch/nn/pimpl.h>
#include <torch/types.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <utility>

#include "nn/ops/activation.h"
#include "nn/ops/initial_values.h"
#include "nn/ops/packed_matrix.h"

namespace nmt {

/// Whether the kernels of training take products with x by this weight [out, in]: float32 or bfloat16 on the CPU with
/// gradients asked for, on a processor whose kernels are the fastest; in bfloat16, in and out are even.
bool has_training_kernel(const torch::Tensor& x, const torch::Tensor& weight);

/// The weight [out, in] of one affine map, or of several side by side, in the words of kernels::TrainingKernels::pack
/// or, transposed, of pack_transposed. weights: float32 [out of each, in]; type: of x.
torch::Tensor pack_weights(torch::TensorList weights, torch::ScalarType type);
torch::Tensor pack_transposed_weights(torch::TensorList weights, torch::ScalarType type);

/// y [rows, out] = x [rows, in] weightᵀ + bias by packed weights; by transposed ones x's gradient from y's. x and y are
/// of one type and contiguous, bias is float32 [out] or undefined. then(begin, end) is called for rows of y as soon as
/// they are there, while they lie in the cache, on the thread that computed them.
void multiply_panels(const torch::Tensor& x, const torch::Tensor& panels, const torch::Tensor& bias, torch::Tensor& y,
                     const std::function<void(int64_t begin, int64_t end)>& then = {});

/// of_weight [out, in] += of_yᵀ x; of_bias [out] += the sums of of_y's columns, unless it is undefined. x [rows, in]
/// and of_y [rows, out] are of one type, the sums float32; all are contiguous.
void add_training_gradient(const torch::Tensor& x, const torch::Tensor& of_y, torch::Tensor& of_weight,
                           torch::Tensor& of_bias);

/// y [..., out of all maps] = x [..., in] through maps that has_training_kernel() takes, with gradients for x and all
/// weights and biases. Either all maps have a bias or none.
torch::Tensor multiply_for_training(const torch::Tensor& x, std::span<const AffineMap> maps);

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
  /// The layer for searches without LibTorch. Throws inference::Unsupported.
  inference::Map inference_map() {
    if (product_) throw inference::Unsupported("a product that stands in for a layer's own");
    return packed_.map({{weight, bias}});
  }
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
