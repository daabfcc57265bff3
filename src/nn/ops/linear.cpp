#include "nn/ops/linear.h"

#include <ATen/ops/cat.h>
#include <ATen/ops/linear.h>
#include <ATen/record_function.h>
#include <torch/csrc/autograd/custom_function.h>

#include <algorithm>
#include <array>
#include <numeric>
#include <vector>

#include "nn/device/cpu_kernels.h"
#include "nn/kernels/products.h"
#include "nn/ops/initial_values.h"

namespace nmt {
namespace {

using kernels::kPanel;
using kernels::panel_count;
using kernels::word_count;
using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

constexpr int64_t kRowsEach = 96, kInputsEach = 512;  // what a thread takes at a time, of a product that is large

/// So many of what costs `cost` numbers or products each that another thread is worth its start.
int64_t worth_a_thread(int64_t cost, int64_t enough) {
  return std::max<int64_t>(1, enough / std::max<int64_t>(cost, 1));
}
int64_t worth_packing(int64_t numbers) { return worth_a_thread(numbers, 1 << 15); }
int64_t worth_multiplying(int64_t products) { return worth_a_thread(products, 1 << 20); }

uint32_t* words_of(torch::Tensor& x) { return static_cast<uint32_t*>(x.mutable_data_ptr()); }

kernels::Type type_of(torch::ScalarType type) {
  return type == torch::kBFloat16 ? kernels::Type::kBfloat16 : kernels::Type::kFloat;
}
const kernels::TrainingKernels& kernels_of(const torch::Tensor& x) {
  return *kernels::training_kernels(type_of(x.scalar_type()));
}

torch::Tensor joined(torch::TensorList parts) {
  return (parts.size() == 1 ? parts.front().detach() : at::cat(parts).detach()).contiguous();
}

enum class Side { kOutputs, kInputs };  // of a weight, in whose panels it is packed

torch::Tensor packed(torch::TensorList weights, torch::ScalarType scalar_type, Side side) {
  const auto matrix = joined(weights);
  const kernels::TrainingWeight weight{
      .out = matrix.size(0), .in = matrix.size(1), .numbers = matrix.const_data_ptr<float>()};
  const auto type = type_of(scalar_type);
  const auto& kernels = *kernels::training_kernels(type);
  const auto pack = side == Side::kOutputs ? kernels.pack : kernels.pack_transposed;
  const int64_t columns = side == Side::kOutputs ? weight.out : weight.in, panels = panel_count(columns);
  const int64_t numbers = side == Side::kOutputs ? weight.in : weight.out;
  auto words = torch::empty({panels * word_count(type, numbers) * kPanel}, torch::kInt32);
  parallel_ranges(panels, worth_packing(kPanel * numbers), [&](int64_t begin, int64_t end) {
    pack(weight, {begin, end}, words_of(words));
  });
  return words;
}

}  // namespace

bool has_training_kernel(const torch::Tensor& x, const torch::Tensor& weight) {
  if (!torch::GradMode::is_enabled() || !x.device().is_cpu() || weight.scalar_type() != torch::kFloat32 ||
      weight.numel() == 0)
    return false;
  const auto type = x.scalar_type();
  const bool is_even = weight.size(0) % 2 == 0 && weight.size(1) % 2 == 0;
  return (type == torch::kFloat32 || (type == torch::kBFloat16 && is_even)) && kernels::training_kernels(type_of(type));
}

torch::Tensor pack_weights(torch::TensorList weights, torch::ScalarType type) {
  return packed(weights, type, Side::kOutputs);
}
torch::Tensor pack_transposed_weights(torch::TensorList weights, torch::ScalarType type) {
  return packed(weights, type, Side::kInputs);
}

void multiply_panels(const torch::Tensor& x, const torch::Tensor& panels, const torch::Tensor& bias, torch::Tensor& y,
                     const std::function<void(int64_t, int64_t)>& then) {
  const kernels::TrainingProduct product{.rows = x.size(0),
                                         .in = x.size(1),
                                         .out = y.size(1),
                                         .x = x.const_data_ptr(),
                                         .panels = static_cast<const uint32_t*>(panels.const_data_ptr()),
                                         .bias = bias.defined() ? bias.const_data_ptr<float>() : nullptr,
                                         .y = y.mutable_data_ptr()};
  const auto& kernels = kernels_of(x);
  parallel_ranges(product.rows, std::max(kRowsEach, worth_multiplying(product.in * product.out)),
                  [&](int64_t begin, int64_t end) {
                    kernels.multiply(product, {begin, end});
                    if (then) then(begin, end);
                  });
}

void add_training_gradient(const torch::Tensor& x, const torch::Tensor& of_y, torch::Tensor& of_weight,
                           torch::Tensor& of_bias) {
  const auto& kernels = kernels_of(x);
  const int64_t rows = x.size(0), in = x.size(1), out = of_y.size(1), panels = panel_count(in);
  auto x_panels = torch::empty({panels * word_count(type_of(x.scalar_type()), rows) * kPanel}, torch::kInt32);
  parallel_ranges(panels, worth_packing(kPanel * rows), [&](int64_t begin, int64_t end) {
    kernels.pack_rows(x.const_data_ptr(), rows, in, {begin, end}, words_of(x_panels));
  });
  const kernels::TrainingGradient gradient{
      .rows = rows,
      .in = in,
      .out = out,
      .x_panels = words_of(x_panels),
      .y_gradient = of_y.const_data_ptr(),
      .weight_gradient = of_weight.mutable_data_ptr<float>(),
      .bias_gradient = of_bias.defined() ? of_bias.mutable_data_ptr<float>() : nullptr};
  const int64_t parts = (in + kInputsEach - 1) / kInputsEach;  // of the inputs of a panel of outputs
  const auto add_part = [&](int64_t i) {
    const int64_t output = i / parts * kPanel, input = i % parts * kInputsEach;
    kernels.add_gradient(gradient, {output, std::min(out, output + kPanel)},
                         {input, std::min(in, input + kInputsEach)});
  };
  const int64_t each = worth_multiplying(rows * kPanel * std::min(in, kInputsEach));
  parallel_ranges(panel_count(out) * parts, each, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) add_part(i);
  });
}

namespace {

/// x's sizes but for the last one.
torch::Tensor empty_like_rows(const torch::Tensor& x, int64_t columns) {
  auto sizes = x.sizes().vec();
  sizes.back() = columns;
  return torch::empty(sizes, x.options());
}
torch::Tensor rows_of(const torch::Tensor& x) { return x.view({-1, x.size(-1)}); }

struct TrainedMaps : torch::autograd::Function<TrainedMaps> {
  static torch::Tensor forward(AutogradContext* context, const torch::Tensor& x_in, torch::TensorList weights,
                               torch::TensorList biases) {
    RECORD_FUNCTION("nmt::linear", c10::ArrayRef<const c10::IValue>());
    std::vector<int64_t> outs;
    for (const auto& weight : weights) outs.push_back(weight.size(0));
    const auto x = x_in.contiguous();
    auto y = empty_like_rows(x, std::accumulate(outs.begin(), outs.end(), int64_t{0})), rows = rows_of(y);
    multiply_panels(rows_of(x), pack_weights(weights, x.scalar_type()),
                    biases.empty() ? torch::Tensor() : joined(biases), rows);
    // The weights are packed again for the gradient: kept, they would take their size a second time.
    variable_list saved = {x};
    saved.insert(saved.end(), weights.begin(), weights.end());
    context->save_for_backward(std::move(saved));
    context->saved_data["outs"] = outs;
    context->saved_data["bias"] = !biases.empty();
    return y;
  }

  static variable_list backward(AutogradContext* context, variable_list gradients) {
    RECORD_FUNCTION("nmt::linear_backward", c10::ArrayRef<const c10::IValue>());
    const auto saved = context->get_saved_variables();
    const auto& x = saved[0];
    const auto weights = torch::TensorList(saved).slice(1);
    const auto outs = context->saved_data["outs"].toIntVector();
    const auto of_y = rows_of(gradients[0].contiguous());
    variable_list result(1);
    if (context->needs_input_grad(0)) {
      result[0] = torch::empty_like(x);
      auto rows = rows_of(result[0]);
      multiply_panels(of_y, pack_transposed_weights(weights, x.scalar_type()), {}, rows);
    }
    const bool with_bias = context->saved_data["bias"].toBool();
    auto of_weight = torch::zeros({of_y.size(1), x.size(-1)}, torch::kFloat32);
    auto of_bias = with_bias ? torch::zeros({of_y.size(1)}, torch::kFloat32) : torch::Tensor();
    add_training_gradient(rows_of(x), of_y, of_weight, of_bias);
    for (auto& part : of_weight.split_with_sizes(outs)) result.push_back(std::move(part));
    if (with_bias)
      for (auto& part : of_bias.split_with_sizes(outs)) result.push_back(std::move(part));
    return result;
  }
};

}  // namespace

torch::Tensor multiply_for_training(const torch::Tensor& x, std::span<const AffineMap> maps) {
  std::vector<torch::Tensor> weights, biases;
  for (const auto& map : maps) {
    weights.push_back(map.weight);
    if (map.bias.defined()) biases.push_back(map.bias);
  }
  TORCH_CHECK(biases.empty() || biases.size() == weights.size(), "either all maps have a bias or none");
  return TrainedMaps::apply(x, torch::TensorList(weights), torch::TensorList(biases));
}

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
