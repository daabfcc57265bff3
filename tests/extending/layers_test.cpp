// Parts of a Transformer, each made for it by PartMakers: trained, then searched with.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "extending/gaussian_score.h"
#include "extending/kerple.h"
#include "extending/mixture_of_experts.h"
#include "extending/scaled_sinusoids.h"
#include "extending/tiny_training.h"
#include "models/loss.h"
#include "models/model_checks.h"
#include "models/transformer/transformer.h"
#include "tensor_support.h"

namespace nmt::extending_layers_test {
namespace {

using test::expect_close;
using test::kTinyVocabulary;
using test::tiny_config;
using test::wave;

/// A Transformer with these parts learns, and its search gives what training computes.
std::shared_ptr<Transformer> expect_to_work(const PartMakers& makers, const ModelConfig& config = tiny_config()) {
  auto model = std::make_shared<Transformer>(config, kTinyVocabulary, kTinyVocabulary, makers);
  test::expect_to_learn(*model, config);
  test::expect_steps_of_the_full_pass(*model, test::check_pairs(), torch::kCPU, 1e-4);
  test::expect_steps_as_alone(*model, test::check_pairs());
  const c10::NoGradGuard no_gradients;
  test::expect_selected_rows_continue(*model, test::check_pairs(), torch::kCPU, 3, /*same_bits=*/true);
  return model;
}

torch::Tensor parameter(const TranslationModel& model, const std::string& name) {
  const auto* found = model.named_parameters().find(name);
  EXPECT_NE(found, nullptr) << name;
  return found ? found->detach() : torch::Tensor();
}

TEST(Extending, AScoreOfAttention) {
  GaussianScore score({.query = 4, .key = 4});
  const torch::NoGradGuard no_grad;
  score.parameters().front().fill_(3);
  const auto query = wave({2, 3, 4}, 1, 1), keys = wave({2, 5, 4}, 1, 2);
  const auto expected = -3 * (query.unsqueeze(2) - keys.unsqueeze(1)).square().sum(-1);
  expect_close(score.forward(query, score.prepare(keys)), expected, 1e-5);
}

TEST(Extending, AScoreOfAttentionInATransformer) {
  const auto model = expect_to_work(
      {.score = [](const AttentionScoreOptions& options) { return std::make_shared<GaussianScore>(options); }});
  for (const char* layer : {"encoder_0.self_attention", "decoder_0.self_attention", "decoder_0.cross_attention"})
    EXPECT_NE(parameter(*model, std::string(layer) + ".score.own.beta").item<double>(), 1) << layer;
}

TEST(Extending, AbsolutePositions) {
  ScaledSinusoids positions({.model = 4});
  const torch::NoGradGuard no_grad;
  positions.parameters().front().fill_(0.5);
  const auto y = positions.forward(torch::zeros({1, 3, 4}), {});
  expect_close(y[0][2],
               torch::tensor({0.5 * std::sin(2.0), 0.5 * std::cos(2.0), 0.5 * std::sin(0.02), 0.5 * std::cos(0.02)}),
               1e-6);
}

TEST(Extending, AbsolutePositionsInATransformer) {
  const auto model = expect_to_work(
      {.positions = [](const PositionOptions& options) { return std::make_shared<ScaledSinusoids>(options); }});
  EXPECT_NE(parameter(*model, "source_positions.alpha").item<double>(), 1);
}

TEST(Extending, RelativePositions) {
  KerplePositions positions({.model = 4, .heads = 2});
  const torch::NoGradGuard no_grad;
  positions.parameters().front().copy_(torch::tensor({{0.3, -0.2}, {1.1, 0.4}}));
  const auto q = wave({1, 2, 1, 2}, 1, 1), k = wave({1, 2, 3, 2}, 1, 2);
  const auto scores = positions.scores(q, k, /*first_query=*/2);
  const auto softplus = [](double x) { return std::log1p(std::exp(x)); };
  const double r1 = softplus(-0.2), r2 = softplus(0.4);  // of the second head
  const double product = (q[0][1][0] * k[0][1][0]).sum().item<double>() / std::sqrt(2);
  EXPECT_NEAR(scores[0][1][0][0].item<double>(), product - r1 * std::log(1 + r2 * 2), 1e-6);
}

TEST(Extending, RelativePositionsInATransformer) {
  auto config = tiny_config();
  expect_to_work(
      {.positions = [](const PositionOptions&) { return nullptr; },
       .relative_positions = [](const PositionOptions& options) { return std::make_shared<KerplePositions>(options); }},
      config);
}

std::shared_ptr<FeedForward> make_experts(const FeedForwardOptions& options) {
  return std::make_shared<MixtureOfExperts>(options, /*experts=*/3);
}

TEST(Extending, AFeedForwardLayer) {
  MixtureOfExperts layer({.model = 6, .inner = 10}, 3, /*balance=*/0.5);
  const torch::NoGradGuard no_grad;
  double start = 0;
  for (auto& weight : layer.parameters()) weight.copy_(wave(weight.sizes(), 0.8, ++start));
  const auto weights = layer.named_parameters();
  const auto x = wave({2, 5, 6}, 1, 4), rows = x.view({-1, 6});
  const auto shares = torch::softmax(rows.matmul(weights["router.weight"].t()), -1);
  auto expected = torch::empty_like(rows);
  std::vector<double> load(3);
  for (int64_t i = 0; i < rows.size(0); ++i) {
    const int64_t expert = shares[i].argmax().item<int64_t>();
    load[expert] += 1.0 / static_cast<double>(rows.size(0));
    const auto of_expert = [&](const char* name) { return weights["expert_" + std::to_string(expert) + "." + name]; };
    const auto inner = torch::relu(rows[i].matmul(of_expert("inner.weight").t()) + of_expert("inner.bias"));
    expected[i] = shares[i][expert] * (inner.matmul(of_expert("outer.weight").t()) + of_expert("outer.bias"));
  }
  EXPECT_GT(std::ranges::count_if(load, [](double share) { return share > 0; }), 1) << "more than one is at work";
  ForwardContext searching, training(1, 1, 0);
  expect_close(layer.forward(x, searching, {}).view({-1, 6}), expected, 1e-5);
  EXPECT_FALSE(layer.take_auxiliary_loss().defined()) << "only in training";
  expect_close(layer.forward(x, training, x).view({-1, 6}), expected + rows, 1e-5);
  double loss = 0;
  for (int64_t i = 0; i < 3; ++i) loss += 0.5 * 3 * load[i] * shares.mean(0)[i].item<double>();
  EXPECT_NEAR(layer.take_auxiliary_loss().item<double>(), loss, 1e-5);
  EXPECT_FALSE(layer.take_auxiliary_loss().defined()) << "given once";
}

TEST(Extending, AFeedForwardLayerInATransformer) {
  const auto model = expect_to_work({.feed_forward = make_experts});
  EXPECT_EQ(parameter(*model, "decoder_0.feed_forward.expert_2.inner.weight").size(0), 32);
  EXPECT_EQ(model->capabilities().static_positions, 0);
  // Its loss is part of the objective: without it the router of the encoder would have another gradient.
  ForwardContext context(1, 1, 0);
  const auto outputs = run_model(*model, to_tensors(test::batch_of(test::made_up_pairs()), torch::kCPU), context);
  ASSERT_TRUE(outputs.auxiliary_loss.defined());
  EXPECT_GT(outputs.auxiliary_loss.item<double>(), 0.015) << "0.01 for each of two layers, where the load is even";
}

}  // namespace
}  // namespace nmt::extending_layers_test
