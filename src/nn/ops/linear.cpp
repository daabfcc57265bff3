#include "nn/ops/linear.h"

#include <ATen/ops/cat.h>
#include <ATen/ops/linear.h>

#include <algorithm>
#include <array>
#include <vector>

#include "nn/ops/kernel_support.h"
#include "nn/ops/parameter.h"
#include "nn/ops/training_panels.h"

namespace nmt {

torch::Tensor linear(const torch::Tensor& x, const torch::Tensor& weight, const torch::Tensor& bias) {
  if (has_training_kernel(x, weight)) return multiply_for_training(x, std::array{AffineMap{weight, bias}});
  const auto type = x.scalar_type();
  return at::linear(x, weight.to(type), bias.defined() ? bias.to(type) : bias);
}

torch::Tensor linear(const torch::Tensor& x, std::span<const AffineMap> maps) {
  if (std::ranges::all_of(maps, [&](const AffineMap& map) { return has_training_kernel(x, map.weight); }))
    return multiply_for_training(x, maps);
  std::vector<torch::Tensor> weights, biases;
  for (const auto& map : maps) {
    weights.push_back(map.weight);
    if (map.bias.defined()) biases.push_back(map.bias);
  }
  return linear(x, at::cat(weights), biases.empty() ? torch::Tensor() : at::cat(biases));
}

torch::Tensor linear(const torch::Tensor& x, const torch::Tensor& weight, const torch::Tensor& bias,
                     PackedMatrix& packed) {
  return has_decoding_kernel(x) ? packed.multiply(x, {{weight, bias}}) : linear(x, weight, bias);
}

LinearImpl::LinearImpl(int64_t in, int64_t out, Bias with_bias) {
  weight = register_parameter("weight", empty_parameter({out, in}));
  if (with_bias == Bias::kYes) bias = register_parameter("bias", torch::zeros({out}));
}

void LinearImpl::reset_parameters(const InitialValues& values, at::Generator& generator) {
  values.matrices.draw(weight, generator);
  if (bias.defined()) values.draw_bias(bias, weight.size(1), generator);
}

torch::Tensor LinearImpl::forward(const torch::Tensor& x, const Epilogue& epilogue) {
  if (product_) return epilogue.apply(product_->multiply(x));
  return has_decoding_kernel(x) ? packed_.multiply(x, {{weight, bias}}, epilogue)
                                : epilogue.apply(linear(x, weight, bias));
}

}  // namespace nmt
