#include <gtest/gtest.h>

#include <memory>
#include <utility>
#include <vector>

#include "nn/decode/layer_cache.h"
#include "nn/device/device.h"
#include "nn/layers/average_attention.h"
#include "nn/layers/ssru.h"
#include "tensor_support.h"

namespace nmt::mixer_test {
namespace {

using test::expect_close;
using test::wave;

constexpr int64_t kModel = 6;

std::shared_ptr<Mixer> mixer_of(const std::string& name) {
  std::shared_ptr<Mixer> mixer;
  if (name == "ssru")
    mixer = std::make_shared<Ssru>(kModel);
  else
    mixer = std::make_shared<AverageAttention>(
        FeedForwardOptions{.model = kModel, .inner = 10, .activation = Activation::kGelu});
  const torch::NoGradGuard no_grad;
  double start = 0;
  for (auto& parameter : mixer->parameters()) parameter.copy_(wave(parameter.sizes(), 0.8, ++start));
  return mixer;
}

torch::Tensor full(Mixer& mixer, const torch::Tensor& x) {
  ForwardContext no_dropout;
  return mixer.forward(x, torch::full({x.size(0)}, x.size(1), torch::kInt64), no_dropout);
}

class AnyMixer : public testing::TestWithParam<const char*> {};

INSTANTIATE_TEST_SUITE_P(Mixers, AnyMixer, testing::Values("average", "ssru"),
                         [](const auto& info) { return std::string(info.param); });

TEST_P(AnyMixer, GivesStepByStepWhatItGivesAtOnce) {
  for (const auto device : test::devices()) {
    const auto mixer = mixer_of(GetParam());
    move_module(*mixer, device);
    const auto x = wave({3, 20, kModel}, 1, 2).to(device);
    const auto expected = full(*mixer, x).detach();
    const torch::NoGradGuard no_grad;
    const auto cache = mixer->start({});
    for (int64_t t = 0; t < x.size(1); ++t)
      expect_close(mixer->step(x.narrow(1, t, 1), *cache, t, {}), expected.narrow(1, t, 1), 1e-5,
                   "position " + std::to_string(t));
  }
}

TEST_P(AnyMixer, DoesNotLookAtLaterPositions) {
  const auto mixer = mixer_of(GetParam());
  const auto x = wave({2, 9, kModel}, 1, 2);
  auto changed = x.clone();
  changed.select(1, 5) += 0.5;
  const auto before = full(*mixer, x).detach(), after = full(*mixer, changed).detach();
  expect_close(after.narrow(1, 0, 5), before.narrow(1, 0, 5), 1e-7);
  EXPECT_GT((after - before).narrow(1, 6, 3).abs().amax({0, 2}).min().item<double>(), 1e-4) << "all later ones see it";
}

TEST_P(AnyMixer, ContinuesTheSelectedRows) {
  const torch::NoGradGuard no_grad;
  const auto mixer = mixer_of(GetParam());
  const auto x = wave({3, 4, kModel}, 1, 2);
  const auto cache = mixer->start({});
  for (int64_t t = 0; t < 3; ++t) mixer->step(x.narrow(1, t, 1), *cache, t, {});
  const auto rows = torch::tensor({2, 0, 2, 1}, torch::kInt64);
  cache->select(rows);
  const auto next = x.narrow(1, 3, 1).index_select(0, rows);
  const auto expected = full(*mixer, x).narrow(1, 3, 1).index_select(0, rows);
  expect_close(mixer->step(next, *cache, 3, {}), expected, 1e-6);
}

TEST_P(AnyMixer, AddsTheResidual) {
  const torch::NoGradGuard no_grad;
  const auto mixer = mixer_of(GetParam());
  const auto x = wave({3, 1, kModel}, 1, 2), residual = wave({3, 1, kModel}, 1, 5);
  const auto alone = mixer->start({}), joined = mixer->start({});
  const auto expected = mixer->step(x, *alone, 0, {}) + residual;
  expect_close(mixer->step(x, *joined, 0, residual), expected, 1e-6);
}

TEST_P(AnyMixer, GivesARowTheSameBitsAloneAndInABatch) {
  const torch::NoGradGuard no_grad;
  const auto mixer = mixer_of(GetParam());
  const auto x = wave({7, 5, kModel}, 1, 2);
  const auto together = mixer->start({});
  std::vector<std::unique_ptr<LayerCache>> alone;
  for (int64_t row = 0; row < 7; ++row) alone.push_back(mixer->start({}));
  for (int64_t t = 0; t < x.size(1); ++t) {
    const auto all = mixer->step(x.narrow(1, t, 1), *together, t, {});
    for (int64_t row = 0; row < 7; ++row)
      EXPECT_TRUE(mixer->step(x.narrow(1, t, 1).narrow(0, row, 1), *alone[row], t, {}).equal(all.narrow(0, row, 1)));
  }
}

TEST_P(AnyMixer, TakesSeveralPositionsAtOnce) {
  const torch::NoGradGuard no_grad;
  const auto mixer = mixer_of(GetParam());
  const auto x = wave({3, 9, kModel}, 1, 2);
  const auto single = mixer->start({}), several = mixer->start({});
  std::vector<torch::Tensor> expected, found;
  for (int64_t t = 0; t < 9; ++t) expected.push_back(mixer->step(x.narrow(1, t, 1), *single, t, {}));
  for (const auto& [first, count] : {std::pair<int64_t, int64_t>{0, 1}, {1, 5}, {6, 3}})
    found.push_back(mixer->step(x.narrow(1, first, count), *several, first, {}));
  EXPECT_TRUE(torch::cat(found, 1).equal(torch::cat(expected, 1)));
}

// Rows of another search, further or less far, continue behind the own ones.
TEST_P(AnyMixer, TakesRowsOfAnotherCache) {
  const torch::NoGradGuard no_grad;
  const auto mixer = mixer_of(GetParam());
  const auto x = wave({2, 9, kModel}, 1, 2), y = wave({3, 9, kModel}, 1, 7);
  for (const auto& [own, other] : {std::pair<int64_t, int64_t>{0, 4}, {3, 0}, {2, 5}, {0, 0}}) {
    const auto cache = mixer->start({}), joining = mixer->start({});
    if (own > 0) mixer->step(x.narrow(1, 0, own), *cache, 0, {});
    if (other > 0) mixer->step(y.narrow(1, 0, other), *joining, 0, {});
    cache->join(*joining, 2, 3);
    const auto next = torch::cat({x.narrow(1, own, 2), y.narrow(1, other, 2)});
    const RowPositions positions(std::vector<int64_t>{own, own, other, other, other});
    const auto found = mixer->step(next, *cache, positions, {});
    expect_close(found.narrow(0, 0, 2), full(*mixer, x).narrow(1, own, 2), 1e-5);
    expect_close(found.narrow(0, 2, 3), full(*mixer, y).narrow(1, other, 2), 1e-5);
  }
}

// ReLU of the unit has a kink at 0: a small step.
TEST_P(AnyMixer, HasTheGradientOfItsFormula) {
  const auto mixer = mixer_of(GetParam());
  const auto mix = wave({2, 5, kModel}, 1, 3);
  test::expect_gradient([&](const torch::Tensor& x) { return (full(*mixer, x) * mix).sum(); },
                        wave({2, 5, kModel}, 1, 2), 2e-3, 5e-3);
  mixer->zero_grad();
  const auto x = wave({2, 5, kModel}, 1, 2);
  (full(*mixer, x) * mix).sum().backward();
  for (auto& parameter : mixer->named_parameters()) {
    auto& values = parameter.value();
    const auto gradient = values.grad().clone();
    const auto at = values.detach().clone();
    const torch::NoGradGuard no_grad;
    for (const int64_t i : {int64_t{0}, values.numel() / 2, values.numel() - 1}) {
      const auto moved = [&](double by) {
        values.copy_(at);
        values.view(-1)[i] += by;
        return (full(*mixer, x) * mix).sum().item<double>();
      };
      const double expected = (moved(2e-3) - moved(-2e-3)) / 4e-3;
      values.copy_(at);
      EXPECT_NEAR(gradient.view(-1)[i].item<double>(), expected, 5e-3 * std::max(1.0, std::abs(expected)))
          << parameter.key() << " element " << i;
    }
  }
}

TEST_P(AnyMixer, TakesBfloat16) {
  const auto mixer = mixer_of(GetParam());
  const auto x = wave({2, 30, kModel}, 1, 2);
  const auto exact = full(*mixer, x).detach();
  const auto low = full(*mixer, x.to(torch::kBFloat16)).detach();
  EXPECT_EQ(low.scalar_type(), torch::kBFloat16);
  expect_close(low, exact, 0.05);
  const torch::NoGradGuard no_grad;
  const auto cache = mixer->start({});
  torch::Tensor last;
  for (int64_t t = 0; t < 30; ++t) last = mixer->step(x.narrow(1, t, 1).to(torch::kBFloat16), *cache, t, {});
  EXPECT_EQ(last.scalar_type(), torch::kBFloat16);
  expect_close(last, exact.narrow(1, 29, 1), 0.05);
}

// Zhang et al. 2018, by hand: a net that is the identity on positive means, gates of 1/2.
TEST(AverageAttention, GatesTheMeanOfThePositionsSoFar) {
  AverageAttention layer(FeedForwardOptions{.model = 2, .inner = 2});
  const torch::NoGradGuard no_grad;
  auto weights = layer.named_parameters();
  for (auto& item : weights) item.value().zero_();
  weights["feed_forward.inner.weight"].copy_(torch::eye(2));
  weights["feed_forward.outer.weight"].copy_(torch::eye(2));
  const auto x = torch::tensor({1., 4., 3., 0., 5., 2.}, torch::kFloat32).view({1, 3, 2});
  const auto means = torch::tensor({1., 4., 2., 2., 3., 2.}, torch::kFloat32).view({1, 3, 2});
  expect_close(full(layer, x), 0.5 * x + 0.5 * means, 1e-6);
}

// Kim et al. 2019, element by element in double.
TEST(Ssru, FollowsItsEquations) {
  const auto mixer = mixer_of("ssru");
  const auto w = mixer->named_parameters();
  const auto x = wave({1, 6, kModel}, 1, 2);
  const auto f = torch::sigmoid(x.matmul(w["forget.weight"].t()) + w["forget.bias"]).detach().to(torch::kFloat64);
  const auto z = x.matmul(w["input.weight"].t()).detach().to(torch::kFloat64);
  EXPECT_EQ(w.size(), 3U) << "the input has no bias";
  const auto actual = full(*mixer, x).detach();
  for (int64_t k = 0; k < kModel; ++k) {
    double c = 0;
    for (int64_t t = 0; t < 6; ++t) {
      const double keep = f[0][t][k].item<double>();
      c = keep * c + (1 - keep) * z[0][t][k].item<double>();
      EXPECT_NEAR(actual[0][t][k].item<double>(), std::max(c, 0.0), 1e-5) << t << " " << k;
    }
  }
}

}  // namespace
}  // namespace nmt::mixer_test
