#include "nn/ops/layer_norm.h"

#include <gtest/gtest.h>

#include "base/error.h"
#include "nn/device/device.h"
#include "support.h"
#include "tensor_support.h"

namespace nmt::layer_norm_test {
namespace {

using test::expect_close;
using test::wave;

LayerNorm norm_of(NormForm form, int64_t model, torch::Device device = torch::kCPU) {
  LayerNorm norm(model, 1e-5, form);
  const torch::NoGradGuard no_grad;
  norm->weight.copy_(1 + wave({model}, 0.5, 1));
  if (norm->bias.defined()) norm->bias.copy_(wave({model}, 0.5, 2));
  move_module(*norm, device);
  return norm;
}

TEST(LayerNorm, FollowsItsFormulas) {
  for (const auto device : test::devices()) {
    const auto x = wave({3, 4, 10}, 2).to(torch::kFloat64) + 0.7;
    const auto input = x.to(device, torch::kFloat32);
    const auto weight = 1 + wave({10}, 0.5, 1), bias = wave({10}, 0.5, 2);
    const auto centred = x - x.mean(-1, true);
    const auto layer = weight * centred / (centred.square().mean(-1, true) + 1e-5).sqrt() + bias;
    expect_close(norm_of(NormForm::kLayer, 10, device)(input).cpu(), layer, 2e-6, device.str());
    const auto rms = weight * x / (x.square().mean(-1, true) + 1e-5).sqrt();
    auto rms_norm = norm_of(NormForm::kRms, 10, device);
    expect_close(rms_norm(input).cpu(), rms, 2e-6, device.str());
    EXPECT_EQ(rms_norm->parameters().size(), 1U) << "no bias";
    EXPECT_EQ(rms_norm(input.to(torch::kBFloat16)).scalar_type(), torch::kBFloat16);
    expect_close(rms_norm(input.to(torch::kBFloat16)).cpu(), rms, 0.03, device.str());
  }
}

TEST(LayerNorm, GivesTheSameWhileDecoding) {
  for (const auto form : {NormForm::kLayer, NormForm::kRms}) {
    for (const int64_t model : {1, 10, 24, 33, 512}) {
      auto norm = norm_of(form, model);
      const auto x = wave({5, 2, model}, 2) + 0.7;
      const auto expected = norm(x).detach();
      const torch::NoGradGuard decoding;
      expect_close(norm(x), expected, 3e-6, std::to_string(model));
    }
  }
}

TEST(LayerNorm, OfRootMeanSquaresHasItsGradient) {
  const auto mix = wave({2, 6}, 1, 3);
  auto norm = norm_of(NormForm::kRms, 6);
  test::expect_gradient([&](const torch::Tensor& x) { return (norm(x) * mix).sum(); }, wave({2, 6}, 1, 1), 1e-3, 2e-3);
}

TEST(LayerNorm, GivesARowTheSameBitsAloneAndInABatch) {
  const torch::NoGradGuard no_grad;
  for (const auto form : {NormForm::kLayer, NormForm::kRms})
    for (const int64_t model : {24, 33, 512}) {
      auto norm = norm_of(form, model);
      const auto x = wave({37, model}, 2);
      const auto together = norm(x);
      for (const int64_t row : {0, 17, 36}) EXPECT_TRUE(norm(x.narrow(0, row, 1)).equal(together.narrow(0, row, 1)));
    }
}

}  // namespace
}  // namespace nmt::layer_norm_test
