#include "nn/ops/initial_values.h"

#include <ATen/CPUGeneratorImpl.h>
#include <gtest/gtest.h>

#include <cmath>

#include "extending/gaussian_score.h"
#include "extending/kerple.h"
#include "nn/layers/feed_forward.h"
#include "nn/layers/multi_head_attention.h"
#include "nn/layers/recurrent_cell.h"
#include "nn/ops/layer_norm.h"
#include "nn/positions/positions.h"
#include "nn/scores/attention_score.h"
#include "tensor_support.h"

namespace nmt::initial_values_test {
namespace {

using test::expect_close;
using Kind = InitialDistribution::Kind;

at::Generator generator_of(uint64_t seed) { return at::detail::createCPUGenerator(seed); }

InitialDistribution normal(double deviation) { return {.kind = Kind::kNormal, .deviation = deviation}; }

torch::Tensor drawn(const InitialDistribution& distribution, at::IntArrayRef sizes) {
  auto matrix = torch::empty(sizes);
  auto generator = generator_of(5);
  distribution.draw(matrix, generator);
  return matrix;
}

TEST(InitialDistribution, IsUniformNormalOrOrthogonal) {
  const auto uniform = drawn({}, {40, 110});  // sqrt(6 / 150) = 0.2
  EXPECT_LE(uniform.abs().max().item<double>(), 0.2);
  EXPECT_NEAR(uniform.std().item<double>(), 0.2 / std::sqrt(3.0), 0.004);
  const auto ranged = drawn({.kind = Kind::kUniform, .limit = 0.3}, {40, 110});
  EXPECT_LE(ranged.abs().max().item<double>(), 0.3);
  EXPECT_NEAR(ranged.std().item<double>(), 0.3 / std::sqrt(3.0), 0.006);
  const auto fan_in = drawn({.kind = Kind::kFanIn}, {110, 25});  // 1 / sqrt(25)
  EXPECT_LE(fan_in.abs().max().item<double>(), 0.2);
  EXPECT_NEAR(fan_in.std().item<double>(), 0.2 / std::sqrt(3.0), 0.004);
  const auto bell = drawn(normal(0.3), {40, 110});
  EXPECT_NEAR(bell.std().item<double>(), 0.3, 0.01);
  EXPECT_GT(bell.abs().max().item<double>(), 0.8);
  const auto gates = drawn({.kind = Kind::kOrthogonal}, {24, 8});
  for (int64_t gate = 0; gate < 3; ++gate) {
    const auto block = gates.narrow(0, 8 * gate, 8);
    expect_close(block.mm(block.t()), torch::eye(8), 1e-6);
  }
  expect_close(drawn({.kind = Kind::kNormal, .deviation = 0.3, .gains = {0.5, 3}}, {40, 110}), bell * 1.5, 1e-6);
}

TEST(InitialDistribution, DrawsOnEveryDeviceTheSameValues) {
  for (const auto device : test::devices()) {
    auto matrix = torch::empty({3, 4}, device);
    auto generator = generator_of(5);
    normal(1).draw(matrix, generator);
    EXPECT_TRUE(matrix.cpu().equal(drawn(normal(1), {3, 4}))) << device;
  }
}

void reset(torch::nn::Module& module, const InitialValues& values) {
  auto generator = generator_of(7);
  reset_all_parameters(module, values, generator);
}

// Each kind of matrix has a deviation of its own, tables of 2000 elements or more: within 5 sigma of it.
InitialValues all_different() {
  return {.matrices = normal(1),
          .embeddings = normal(2),
          .positions = normal(4),
          .recurrent = normal(8),
          .scores = normal(16),
          .score_vectors = normal(32),
          .branch_gain = 0.125};
}

void expect_deviations(torch::nn::Module& module, const std::vector<std::pair<std::string, double>>& expected) {
  reset(module, all_different());
  const auto parameters = module.named_parameters();
  ASSERT_EQ(parameters.size(), expected.size());
  for (size_t i = 0; i < expected.size(); ++i) {
    const auto& [name, deviation] = expected[i];
    EXPECT_EQ(parameters[i].key(), name);
    const auto& values = parameters[i].value();
    const double tolerance = 5 * deviation / std::sqrt(2 * static_cast<double>(values.numel()));
    EXPECT_NEAR(values.detach().std(/*unbiased=*/false).item<double>(), deviation, tolerance) << name;
  }
}

TEST(InitialValues, OfLayersAreThoseOfTheirKind) {
  LinearImpl linear(50, 40, LinearImpl::Bias::kYes);
  expect_deviations(linear, {{"weight", 1}, {"bias", 0}});
  RecurrentCellImpl cell(kernels::Cell::kGru, 40, 30);
  expect_deviations(cell, {{"input.weight", 1}, {"input.bias", 0}, {"recurrent.weight", 8}, {"recurrent.bias", 0}});
  AdditiveScore score({.query = 40, .key = 50, .inner = 2000, .coverage = true});
  expect_deviations(score, {{"v", 32}, {"u", 16}, {"query.weight", 16}, {"key.weight", 16}});
  DenseFeedForward net({.model = 40, .inner = 50, .gated = true});
  expect_deviations(net, {{"inner.weight", 0.125},
                          {"inner.bias", 0},
                          {"gated.weight", 0.125},
                          {"gated.bias", 0},
                          {"outer.weight", 0.125},
                          {"outer.bias", 0}});
  LayerNormImpl norm(40, 1e-6);
  expect_deviations(norm, {{"weight", 0}, {"bias", 0}});
  EXPECT_TRUE(norm.weight.equal(torch::ones({40})));
}

void expect_uniform_within(const torch::Tensor& values, double limit, const std::string& name) {
  EXPECT_LE(values.abs().max().item<double>(), limit) << name;
  const double deviation = limit / std::sqrt(3.0), elements = static_cast<double>(values.numel());
  EXPECT_NEAR(values.detach().std(/*unbiased=*/false).item<double>(), deviation,
              5 * deviation / std::sqrt(2 * elements))
      << name;
}

// Matrices, those from state to state, and biases.
InitialValues all_of(const InitialDistribution& distribution) {
  InitialValues values;
  values.matrices = values.recurrent = distribution;
  values.biases = distribution;
  return values;
}

// PyTorch's nn.Linear, whose bias has the range of its weight; and its nn.GRU, whose parameters all have that of its
// size.
TEST(InitialValues, OfPyTorchAreUniformByFanIn) {
  const auto values = all_of({.kind = Kind::kFanIn});
  LinearImpl linear(400, 300, LinearImpl::Bias::kYes);
  reset(linear, values);
  expect_uniform_within(linear.weight, 1.0 / 20, "weight");
  expect_uniform_within(linear.bias, 1.0 / 20, "bias");
  RecurrentCellImpl cell(kernels::Cell::kGru, 25, 100);
  reset(cell, values);
  for (const auto& item : cell.named_parameters()) expect_uniform_within(item.value(), 1.0 / 10, item.key());
  // The weights are those that they are without biases.
  LinearImpl without(400, 300, LinearImpl::Bias::kNo);
  reset(without, values);
  EXPECT_TRUE(without.weight.equal(linear.weight));
}

// Every parameter, biases of recurrent products among them (Luong et al. 2015).
TEST(InitialValues, MayAllBeUniformWithinOneRange) {
  RecurrentCellImpl cell(kernels::Cell::kLstm, 25, 100);
  reset(cell, all_of({.kind = Kind::kUniform, .limit = 0.1}));
  for (const auto& item : cell.named_parameters()) expect_uniform_within(item.value(), 0.1, item.key());
}

TEST(InitialValues, OfAttentionAndItsPositionsAreThoseOfTheirKind) {
  const auto attention = [](const char* kind) {
    const PositionOptions positions{.kind = kind, .model = 64, .heads = 4, .max_distance = 70, .buckets = 600};
    return MultiHeadAttention(MultiHeadAttentionImpl::Options{
        .model = 64, .heads = 4, .bias = false, .scores = make_relative_positions(positions)});
  };
  const std::vector<std::pair<std::string, double>> plain = {
      {"query.weight", 1}, {"key.weight", 1}, {"value.weight", 0.125}, {"output.weight", 0.125}};
  const auto with = [&](std::initializer_list<std::pair<std::string, double>> more) {
    auto all = plain;
    all.insert(all.end(), more);
    return all;
  };
  expect_deviations(*attention("none"), plain);
  expect_deviations(*attention("shaw"), with({{"positions.keys", 4}, {"positions.values", 4}}));
  expect_deviations(*attention("transformer_xl"),
                    with({{"positions.u", 4}, {"positions.v", 4}, {"positions.projection.weight", 1}}));
  expect_deviations(*attention("deberta"),
                    with({{"positions.weight", 4}, {"positions.query.weight", 1}, {"positions.key.weight", 1}}));
  auto t5 = with({{"positions.weight", 4}});
  t5[0].second = 0.25;  // 1 / sqrt(head_dim)
  expect_deviations(*attention("t5"), t5);
}

// Named parameters are read from files in their order, random numbers are drawn in it: a score between two layers moves
// neither.
TEST(InitialValues, AreDrawnInTheOrderOfTheParameters) {
  AdditiveScore score({.query = 3, .key = 4, .inner = 5});
  reset(score, all_different());
  auto generator = generator_of(7);
  for (const auto& [name, deviation] : {std::pair{"v", 32}, std::pair{"query.weight", 16}, {"key.weight", 16}}) {
    auto expected = torch::empty_like(score.named_parameters()[name]);
    normal(deviation).draw(expected, generator);
    EXPECT_TRUE(score.named_parameters()[name].equal(expected)) << name;
  }
}

TEST(InitialValues, OfTheScoreOfTheGuideAreThoseOfItsConstructor) {
  GaussianScore score({.query = 6, .key = 6});
  reset(score, all_different());
  EXPECT_TRUE(score.named_parameters()["beta"].equal(torch::ones({1, 1})));
  const auto query = test::wave({1, 2, 6}), keys = test::wave({1, 3, 6}, 1, 2);
  const auto expected = -(query.unsqueeze(2) - keys.unsqueeze(1)).square().sum(-1);
  expect_close(score.forward(query, score.prepare(keys)).detach(), expected, 1e-5);
}

TEST(InitialValues, OfThePositionsOfTheGuideAreThoseOfTablesOfPositions) {
  MultiHeadAttentionImpl::Options options{.model = 200, .heads = 100, .bias = false, .output_projection = false};
  options.scores = std::make_shared<KerplePositions>(PositionOptions{.model = 200, .heads = 100});
  MultiHeadAttention attention(options);
  reset(*attention, all_different());
  EXPECT_NEAR(attention->named_parameters()["positions.weight"].std().item<double>(), 4, 1);
  const auto far = options.scores->scores(test::wave({1, 100, 1, 2}), torch::zeros({1, 100, 5, 2}), 0)[0];
  EXPECT_TRUE((far.select(-1, 4) < far.select(-1, 1)).all().item<bool>()) << "farther keys have lower scores";
}

}  // namespace
}  // namespace nmt::initial_values_test
