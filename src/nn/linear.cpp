#include "nn/linear.h"

#include <ATen/Parallel.h>
#include <ATen/ops/linear.h>

#include <algorithm>

#include "nn/kernel_support.h"

namespace nmt {

const float* PackedMatrix::packed(const torch::Tensor& weight) {
  const std::lock_guard lock(mutex_);
  const uint32_t version = weight.is_inference() ? 0 : weight._version();
  if (source_ == weight.const_data_ptr() && version_ == version && !weight.is_inference()) return panels_.data();
  const auto rows = weight.detach().contiguous();
  panels_.resize(kernels::packed_size(weight.size(0), weight.size(1)));
  kernels::kernels().pack(rows.const_data_ptr<float>(), weight.size(0), weight.size(1), panels_.data());
  source_ = weight.const_data_ptr();
  version_ = version;
  return panels_.data();
}

torch::Tensor PackedMatrix::multiply(const torch::Tensor& x_in, const torch::Tensor& weight,
                                     const torch::Tensor& bias) {
  const auto x = x_in.contiguous();
  auto sizes = x.sizes().vec();
  sizes.back() = weight.size(0);
  auto y = torch::empty(sizes, x.options());
  const kernels::LinearTask task{.x = x.const_data_ptr<float>(),
                                 .packed = packed(weight),
                                 .bias = bias.defined() ? bias.const_data_ptr<float>() : nullptr,
                                 .y = y.mutable_data_ptr<float>(),
                                 .out = weight.size(0),
                                 .in = weight.size(1)};
  const int64_t rows = x.numel() / task.in, panels = (task.out + kernels::kPanel - 1) / kernels::kPanel;
  // Threads share the wider side; either way each element is the same sum.
  if (rows < 64) {
    const int64_t grain = std::max<int64_t>(1, (1 << 18) / (kernels::kPanel * task.in * std::max<int64_t>(rows, 1)));
    at::parallel_for(0, panels, grain, [&](int64_t begin, int64_t end) {
      kernels::kernels().linear(task, {0, rows}, {begin, end});
    });
  } else {
    at::parallel_for(0, rows, 24, [&](int64_t begin, int64_t end) {
      kernels::kernels().linear(task, {begin, end}, {0, panels});
    });
  }
  return y;
}

torch::Tensor linear(const torch::Tensor& x, const torch::Tensor& weight, const torch::Tensor& bias) {
  const auto type = x.scalar_type();
  return at::linear(x, weight.to(type), bias.defined() ? bias.to(type) : bias);
}

torch::Tensor linear(const torch::Tensor& x, const torch::Tensor& weight, const torch::Tensor& bias,
                     PackedMatrix& packed) {
  const bool decoding = !torch::GradMode::is_enabled() && x.device().is_cpu() && x.scalar_type() == torch::kFloat32;
  return decoding ? packed.multiply(x, weight, bias) : linear(x, weight, bias);
}

LinearImpl::LinearImpl(int64_t in, int64_t out, Bias with_bias) {
  weight = register_parameter("weight", torch::empty({out, in}));
  if (with_bias == Bias::kYes) bias = register_parameter("bias", torch::zeros({out}));
}

}  // namespace nmt
