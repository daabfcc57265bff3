#pragma once

#include <torch/nn/module.h>
#include <torch/nn/pimpl.h>
#include <torch/types.h>

#include <memory>
#include <mutex>
#include <utility>
#include <vector>

namespace nmt {

/// A float matrix packed for decoding on the CPU, packed again when the matrix has changed. Thread-safe.
class PackedMatrix {
 public:
  /// x [..., in] · weight [out, in]ᵀ + bias (or undefined), float32. Sums do not depend on the number of rows: a
  /// sentence is translated the same alone and in a batch.
  torch::Tensor multiply(const torch::Tensor& x, const torch::Tensor& weight, const torch::Tensor& bias);

 private:
  const float* packed(const torch::Tensor& weight);

  std::mutex mutex_;
  std::vector<float> panels_;
  const void* source_ = nullptr;
  uint32_t version_ = 0;
};

/// y = x weightᵀ + bias in x's type: x [..., in], weight [out, in] and bias [out] (or undefined) are float masters.
torch::Tensor linear(const torch::Tensor& x, const torch::Tensor& weight, const torch::Tensor& bias);

/// The same; while gradients are off, float32 on the CPU goes through `packed`.
torch::Tensor linear(const torch::Tensor& x, const torch::Tensor& weight, const torch::Tensor& bias,
                     PackedMatrix& packed);

/// A trained affine map.
class LinearImpl : public torch::nn::Module {
 public:
  enum class Bias { kNo, kYes };
  LinearImpl(int64_t in, int64_t out, Bias with_bias);
  torch::Tensor forward(const torch::Tensor& x) {
    return product_ ? product_->multiply(x) : linear(x, weight, bias, packed_);
  }

  /// Another way to the same product for a while (see StepwiseGradients); nullptr: the layer's own.
  class Product {
   public:
    virtual ~Product() = default;
    virtual torch::Tensor multiply(const torch::Tensor& x) = 0;
  };
  void replace_product(std::unique_ptr<Product> product) { product_ = std::move(product); }

  torch::Tensor weight;  ///< [out, in]
  torch::Tensor bias;    ///< [out], or undefined

 private:
  PackedMatrix packed_;
  std::unique_ptr<Product> product_;
};
TORCH_MODULE(Linear);

}  // namespace nmt
