#include <ATen/Parallel.h>
#include <ATen/ops/stack.h>
#include <ATen/record_function.h>
#include <fmt/format.h>
#include <torch/csrc/autograd/custom_function.h>

#include "base/error.h"
#include "nn/device/cpu_kernels.h"
#include "nn/device/device.h"
#include "nn/positions/positions.h"
#include "nn/positions/table_positions.h"

namespace nmt {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

constexpr int64_t kRowsEach = 64;  // for one thread

// x [batch, time, features], the last axis contiguous; table [time, head_dim], sine and cosine of each pair side by
// side. Computed in float, one pass.
template <typename T>
torch::Tensor rotated(const torch::Tensor& x, const torch::Tensor& table, bool back) {
  const int64_t time = x.size(1), features = x.size(2), head_dim = table.size(1);
  auto out = torch::empty(x.sizes(), x.options());
  const T* from = x.const_data_ptr<T>();
  T* to = out.mutable_data_ptr<T>();
  const float* angles = table.const_data_ptr<float>();
  const int64_t batch_stride = x.stride(0), row_stride = x.stride(1);
  at::parallel_for(0, x.size(0) * time, kRowsEach, [&](int64_t begin, int64_t end) {
    for (int64_t row = begin; row < end; ++row) {
      const T* in = from + row / time * batch_stride + row % time * row_stride;
      const float* angle = angles + row % time * head_dim;
      T* result = to + row * features;
      for (int64_t head = 0; head < features; head += head_dim) {
        for (int64_t i = 0; i < head_dim; i += 2) {
          const float sine = back ? -angle[i] : angle[i], cosine = angle[i + 1];
          const float a = in[head + i], b = in[head + i + 1];
          result[head + i] = a * cosine - b * sine;
          result[head + i + 1] = a * sine + b * cosine;
        }
      }
    }
  });
  return out;
}

struct Rotation : torch::autograd::Function<Rotation> {
  static torch::Tensor run(const torch::Tensor& x_in, const torch::Tensor& table, bool back) {
    RECORD_FUNCTION("nmt::rotate", c10::ArrayRef<const c10::IValue>());
    const auto x = x_in.stride(-1) == 1 ? x_in : x_in.contiguous();
    return x.scalar_type() == torch::kFloat32 ? rotated<float>(x, table, back) : rotated<c10::BFloat16>(x, table, back);
  }
  static torch::Tensor forward(AutogradContext* context, const torch::Tensor& x, const torch::Tensor& table) {
    context->save_for_backward({table});
    return run(x, table, false);
  }
  // A transform keeps lengths: its gradient is transformed back.
  static variable_list backward(AutogradContext* context, variable_list gradients) {
    return {run(gradients[0], context->get_saved_variables()[0], true), {}};
  }
};

// Rotary positions (Su et al. 2021, eq. 34): features 2i and 2i + 1 of a head of q and k are transformed by the angle
// position / 10000^(2i / head_dim), so that their product depends on the difference of positions. No weights.
class RotaryPositions final : public HeadScores {
 public:
  explicit RotaryPositions(const PositionOptions& options)
      : HeadScores("positions"),
        head_dim_(options.model / options.heads),
        angles_(head_dim_, Sinusoid::kInterleaved),
        inference_(std::make_shared<inference::SinusoidTable>(head_dim_, Sinusoid::kInterleaved)) {
    if (head_dim_ % 2 != 0)
      throw Error(fmt::format(
          "model.positions: rotary turns pairs of features; d_model {} / num_heads {} is odd, choose other sizes",
          options.model, options.heads));
  }

  bool fits_kernel() const override { return true; }
  std::shared_ptr<inference::PositionRows> inference_rotation() const override { return inference_; }

  torch::Tensor transform(const torch::Tensor& x, int64_t first) override {
    const auto rows = angles_.rows(first, x.size(1));
    if (has_cpu_kernel(x)) return Rotation::apply(x, rows);
    // Sine and cosine of each pair stand side by side in the table: [time, 1, head_dim / 2, 2].
    const auto table = copy_to_device(rows, x.device()).view({x.size(1), 1, -1, 2});
    const auto sine = table.select(-1, 0), cosine = table.select(-1, 1);
    const auto pairs = x.unflatten(-1, {-1, head_dim_ / 2, 2});  // [batch, time, heads, head_dim / 2, 2]
    const auto a = pairs.select(-1, 0), b = pairs.select(-1, 1);
    return at::stack({a * cosine - b * sine, a * sine + b * cosine}, -1).flatten(2).to(x.scalar_type());
  }

 private:
  int64_t head_dim_;
  SinusoidRows angles_;
  std::shared_ptr<inference::SinusoidTable> inference_;
};

}  // namespace

std::shared_ptr<HeadScores> make_rotary(const PositionOptions& options) {
  return options.first_layer ? options.first_layer : std::make_shared<RotaryPositions>(options);
}

}  // namespace nmt
