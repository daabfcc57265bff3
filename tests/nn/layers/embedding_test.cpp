#include "nn/layers/embedding.h"

#include <gtest/gtest.h>

#include <cmath>

#include "tensor_support.h"

namespace nmt::embedding_test {
namespace {

using test::expect_close;
using test::wave;

InputLayer layer_of(const PositionOptions& positions, InputLayer::Options options = {}) {
  return {options, make_positions(positions)};
}

// Computed by hand: 2 E + PE, d = 4, angles t and t / 100.
TEST(InputLayer, AddsPositionsToTheEmbeddingsTimesTheRootOfTheirSize) {
  const auto table = torch::tensor({{0.0, 0.0, 0.0, 0.0}, {0.5, -0.25, 1.0, 0.0}, {-1.5, 0.75, 0.125, 2.0}});
  ForwardContext no_dropout;
  const auto x = layer_of({.model = 4}).forward(torch::tensor({{1, 2, 1}}), table, torch::kFloat32, no_dropout)[0];
  const auto expected = torch::tensor({{1.0, 0.5, 2.0, 1.0},  // + 0 1 0 1
                                       {-2.15852902, 2.04030231, 0.25999983, 4.99995000},
                                       {1.90929743, -0.91614684, 2.01999867, 0.99980001}});
  expect_close(x, expected, 1e-6);
}

// The published example: the words of positions 2 and 10 of a sentence, 512 features, angles of twice the paper's
// exponent. Its embeddings are those of another program; here a formula stands for them.
TEST(InputLayer, IsEmbeddingTimesRootPlusPositionFeatureByFeature) {
  constexpr int64_t kSize = 512;
  const auto table = wave({15, kSize}, 0.05, 0.4);
  const auto ids = torch::arange(15, torch::kInt64).flip(0).unsqueeze(0);  // word 14 - t at position t
  ForwardContext no_dropout;
  const auto layer = layer_of({.sinusoid = Sinusoid::kDoubled, .model = kSize}, {.padding_row_is_constant = false});
  const auto x = layer.forward(ids, table, torch::kFloat32, no_dropout)[0];
  for (const int64_t position : {2, 10}) {
    for (int64_t k = 0; k < kSize; ++k) {
      const double angle =
          static_cast<double>(position) / std::pow(10000.0, 2.0 * static_cast<double>(k - k % 2) / 512);
      const double place = k % 2 == 0 ? std::sin(angle) : std::cos(angle);
      const double y = table[14 - position][k].item<double>();
      EXPECT_NEAR(x[position][k].item<double>(), y * std::sqrt(512.0) + place, 5e-7) << position << " " << k;
    }
  }
  // A step of a search gives the same features.
  const auto step = layer.step(ids.narrow(1, 10, 1), table, 10, layer.start({}).get(), torch::kFloat32);
  EXPECT_TRUE(step[0][0].equal(x[10]));
}

TEST(InputLayer, LeavesPaddingWithoutPositionWhereAsked) {
  auto table = wave({5, 6}, 0.5, 0.4);
  table[0].zero_();
  const auto ids = torch::tensor({{3, 2, 0, 0}});
  ForwardContext no_dropout;
  const auto with = layer_of({.model = 6}).forward(ids, table, torch::kFloat32, no_dropout)[0];
  const auto without =
      layer_of({.model = 6}, {.positions_on_padding = false}).forward(ids, table, torch::kFloat32, no_dropout)[0];
  EXPECT_TRUE(without.narrow(0, 0, 2).equal(with.narrow(0, 0, 2)));
  EXPECT_EQ(without.narrow(0, 2, 2).abs().sum().item<double>(), 0);
  EXPECT_GT(with.narrow(0, 2, 2).abs().sum().item<double>(), 1);
}

}  // namespace
}  // namespace nmt::embedding_test
