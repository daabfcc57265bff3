#include "training/optimizers/low_rank.h"

#include <ATen/ops/cat.h>
#include <ATen/ops/linear.h>
#include <gmock/gmock.h>

#include "base/error.h"
#include "base/files/adapter.h"
#include "base/files/file.h"
#include "models/formula_weights.h"
#include "models/tiny_batch.h"
#include "support.h"
#include "tensor_support.h"
#include "training/fine_tuning.h"
#include "training/trained_update.h"

namespace nmt::low_rank_test {
namespace {

using test::message_of;
using testing::HasSubstr;

Config config_of(const std::string& optimizer = "adam") {
  Config config;
  config.model = test::model_config("d_model: 16, d_ff: 32, num_blocks: 1, num_heads: 2");
  config.training.lora_rank = 3;
  config.training.lora_alpha = 6;
  config.training.optimizer.assign(optimizer);
  config.run.seed = 5;
  return config;
}

std::shared_ptr<TranslationModel> model_of(const Config& config) { return test::formula_model(config.model, 9, 9); }

void update(TranslationModel& model, Optimizer& optimizer, int times = 3) {
  for (int i = 0; i < times; ++i)
    test::update({model, optimizer}, {test::batch_of({{{4, 5}, {6, 7}}, {{7}, {8, 4}}})}, {.clip_norm = 1}, 0.05);
}

std::map<std::string, torch::Tensor> weights_of(const TranslationModel& model) {
  std::map<std::string, torch::Tensor> weights;
  for (const auto& [name, weight] : named_parameters(model)) weights[name] = weight.detach().clone();
  return weights;
}

// Encoder: attention 4 matrices [16, 16], feed-forward [32, 16] and [16, 32]; decoder: the same and 4 of
// cross-attention.
TEST(LowRank, AdaptsTheMatricesOfAttentionAndFeedForwardLayers) {
  const auto config = config_of();
  const auto model = model_of(config);
  const auto matrices = freeze(*model, config.training);
  EXPECT_EQ(matrices.size(), 12 + 4);
  LowRankOptimizer optimizer(matrices, config);
  int64_t trained = 0;
  for (const auto& [name, factor] : optimizer.factors()) trained += factor.numel();
  EXPECT_EQ(trained, 3 * (12 * (16 + 16) + 4 * (16 + 32)));
  for (const auto& [name, parameter] : named_parameters(*model))
    EXPECT_EQ(parameter.requires_grad(), name.ends_with(".weight") && name.find("norm") == name.npos) << name;
}

TEST(LowRank, IsAtFirstTheBaseAndThenTheBaseWithTheAdapter) {
  const auto config = config_of();
  const auto model = model_of(config);
  const auto base = weights_of(*model);
  LowRankOptimizer optimizer(freeze(*model, config.training), config);
  for (const auto& [name, weight] : weights_of(*model)) EXPECT_TRUE(weight.equal(base.at(name))) << name;
  update(*model, optimizer);

  const test::TemporaryDirectory folder;
  optimizer.save(folder / kAdapterFile, "hash");
  const auto adapter = read_adapter(folder / kAdapterFile);
  EXPECT_EQ(adapter.base, "hash");
  for (const auto& [name, weight] : weights_of(*model)) {
    EXPECT_EQ(weight.equal(base.at(name)), !adapter.factors.contains(name)) << name;
    auto expected = base.at(name).clone();
    adapter.add_to(name, expected.sizes().vec(), {expected.mutable_data_ptr<float>(), size_t(expected.numel())});
    EXPECT_TRUE(weight.equal(expected)) << name;
  }
}

// A step of SGD along the gradients that autograd finds for A and B in W0 + alpha / rank B A.
TEST(LowRank, FollowsTheGradientsOfTheFactors) {
  for (const auto device : test::devices()) {
    auto config = config_of("sgd");
    config.training.sgd_momentum = 0;
    auto matrix = test::formula_weight("m.weight", {4, 5}).to(device).requires_grad_(true);
    const auto base = matrix.detach().clone(), x = test::formula_weight("x", {7, 5}).to(device);
    LowRankOptimizer optimizer({{"m.weight", matrix}}, config);
    const auto loss = [&x](const torch::Tensor& weight) { return at::linear(x, weight).pow(2).sum(); };
    auto a = optimizer.factors()[0].second.detach().clone().requires_grad_(true);
    auto b = optimizer.factors()[1].second.detach().clone().requires_grad_(true);
    std::vector<double> norms;
    for (int step = 0; step < 3; ++step) {
      loss(base + 2 * b.matmul(a)).backward();
      const torch::NoGradGuard no_grad;
      norms.push_back(at::cat({a.grad().flatten(), b.grad().flatten()}).norm().item<double>());
      a -= 0.01 * a.grad();
      b -= 0.01 * b.grad();
      a.mutable_grad().reset();
      b.mutable_grad().reset();
    }
    for (int step = 0; step < 3; ++step) {
      optimizer.clear_gradients();
      loss(matrix).backward();
      EXPECT_NEAR(optimizer.clip_gradients(0).item<double>(), norms[step], 1e-4 * norms[step]);
      optimizer.step(0.01);
    }
    test::expect_close(optimizer.factors()[0].second.detach(), a.detach(), 1e-5, "A on " + device.str());
    test::expect_close(optimizer.factors()[1].second.detach(), b.detach(), 1e-5, "B on " + device.str());
    test::expect_close(matrix.detach(), (base + 2 * b.matmul(a)).detach(), 1e-5, "W on " + device.str());
  }
}

TEST(LowRank, ContinuesInTheSameBits) {
  const test::TemporaryDirectory folder;
  const auto config = config_of();
  const auto unbroken = model_of(config), resumed = model_of(config);
  LowRankOptimizer first(freeze(*unbroken, config.training), config);
  update(*unbroken, first);
  first.save(folder / kAdapterFile, "hash");
  save_safetensors(folder / "state", first.state());
  update(*unbroken, first);

  LowRankOptimizer second(freeze(*resumed, config.training), config);
  second.load(folder / kAdapterFile);
  copy_into(second.state(), load_safetensors(folder / "state"), folder / "state");
  update(*resumed, second);
  const auto expected = weights_of(*unbroken);
  for (const auto& [name, weight] : weights_of(*resumed)) EXPECT_TRUE(weight.equal(expected.at(name))) << name;
}

// A stays where it is at first: its gradient is B's, and B is zero.
TEST(LowRank, DrawsAByTheSeed) {
  auto config = config_of();
  const auto draw = [&config] {
    const auto model = model_of(config);
    return LowRankOptimizer(freeze(*model, config.training), config).factors();
  };
  const auto one = draw(), again = draw();
  config.run.seed = 6;
  const auto other = draw();
  double squares = 0, numbers = 0;
  for (size_t i = 0; i < one.size(); ++i) {
    const bool is_a = i % 2 == 0;
    EXPECT_TRUE(one[i].second.equal(again[i].second));
    EXPECT_EQ(one[i].second.equal(other[i].second), !is_a);
    EXPECT_EQ(one[i].second.count_nonzero().item<int64_t>() == 0, !is_a);
    if (!is_a) continue;
    squares += one[i].second.detach().pow(2).sum().item<double>() * static_cast<double>(one[i].second.size(1));
    numbers += static_cast<double>(one[i].second.numel());
  }
  EXPECT_NEAR(squares / numbers, 1, 0.15);
}

TEST(LowRank, NeedsAMatrix) {
  auto config = config_of();
  config.training.freeze = {"*coder_*"};
  const auto model = model_of(config);
  EXPECT_THAT(message_of<Error>([&] { freeze(*model, config.training); }),
              HasSubstr("training.freeze leaves no matrix of attention and feed-forward layers"));
}

}  // namespace
}  // namespace nmt::low_rank_test
