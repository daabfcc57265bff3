// Attention of a training on a device, with dropout.
#include "nn/attention/attention.h"

#include <gtest/gtest.h>

#include <cmath>

#include "on_device/device_under_test.h"
#include "tensor_support.h"

namespace nmt::on_device_attention_test {
namespace {

using test::wave;

class OnDeviceAttention : public test::DeviceTest {};

// With given masks the context is linear in the values: context = M v, of v gets M' g. So the sums of g context and of
// v (gradient of v) are equal, unless the backward pass drops other weights than the forward pass.
TEST_F(OnDeviceAttention, DropsTheSameWeightsInBothPasses) {
  const auto lengths = torch::tensor({9, 7, 2, 5}, torch::kInt64);
  for (const auto type : {torch::kFloat32, torch::kBFloat16, torch::kFloat16})
    for (const bool causal : {false, true})
      for (const double rate : {0.0, 0.3}) {
        const auto input = [&](double start) { return wave({4, 9, 64}, 1, start).to(device_, type); };
        const auto q = input(1), k = input(2), mix = input(4);
        auto v = input(3).detach().requires_grad_(true);
        ForwardContext pass(/*seed=*/1, /*update=*/2, /*micro_batch=*/0);
        const AttentionOptions options{
            .heads = 4, .dropout = rate, .causal = causal, .target_lengths = lengths, .source_lengths = lengths};
        const auto context = attention(q, k, v, options, pass);
        const auto sum = [](const torch::Tensor& x) { return x.to(torch::kFloat32).cpu().to(torch::kFloat64).sum(); };
        const auto forward = sum(context.detach().to(torch::kFloat32) * mix.to(torch::kFloat32)).item<double>();
        (context * mix).sum().backward();
        const auto back = sum(v.detach().to(torch::kFloat32) * v.grad().to(torch::kFloat32)).item<double>();
        EXPECT_NEAR(back, forward, type == torch::kFloat32 ? 1e-4 : 5e-3 * std::abs(forward))
            << c10::toString(type) << (causal ? " causal" : "") << " dropout " << rate;
      }
}

}  // namespace
}  // namespace nmt::on_device_attention_test
