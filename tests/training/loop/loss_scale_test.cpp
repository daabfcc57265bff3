// Loss scaling, in float16 on the CPU.
#include <gtest/gtest.h>

#include <limits>

#include "models/formula_weights.h"
#include "models/model_directory.h"
#include "models/tiny_batch.h"
#include "tensor_support.h"
#include "training/captured_log.h"
#include "training/loop/interval_meter.h"
#include "training/loop/objectives.h"
#include "training/loop/train_update.h"
#include "training/optimizers/optimizer.h"

namespace nmt::loss_scale_test {
namespace {

constexpr float kOverflows = std::numeric_limits<float>::infinity();

torch::Tensor flag(bool skipped) { return torch::full({}, skipped ? 1.F : 0.F); }

TEST(LossScale, IsHalvedByAnOverflowAndDoubledAfterGoodUpdates) {
  LossScale scale(torch::kCPU, {.initial = 1024, .growth = 3});
  const auto after = [&](bool skipped) {
    scale.follow(flag(skipped));
    return scale.value().item<float>();
  };
  EXPECT_EQ(after(false), 1024);
  EXPECT_EQ(after(false), 1024);
  EXPECT_EQ(after(false), 2048);
  EXPECT_EQ(after(true), 1024);
  EXPECT_EQ(after(true), 512);
  EXPECT_EQ(after(false), 512);
  EXPECT_EQ(after(false), 512);
  EXPECT_EQ(after(true), 256) << "good updates in a row count";
  EXPECT_EQ(after(false), 256);
  EXPECT_EQ(after(false), 256);
  EXPECT_EQ(after(false), 512);
}

TEST(LossScale, ScalesAndUnscales) {
  LossScale scale(torch::kCPU, {.initial = 256});
  auto x = torch::tensor({3.F}).requires_grad_();
  scale.scaled((x * x).sum()).backward();
  EXPECT_EQ(x.grad().item<float>(), 6 * 256);
  scale.unscale({x.grad()});
  EXPECT_EQ(x.grad().item<float>(), 6);
  x.mutable_grad().fill_(kOverflows);
  scale.unscale({x.grad()});
  EXPECT_TRUE(x.grad().isinf().item<bool>()) << "an overflow stays one";
}

TEST(LossScale, GoesOnFromItsState) {
  LossScale scale(torch::kCPU, {.initial = 64, .growth = 2}), other(torch::kCPU, {.initial = 1, .growth = 2});
  scale.follow(flag(false));
  const auto from = scale.state(), to = other.state();
  for (size_t i = 0; i < from.size(); ++i) to[i].second.copy_(from[i].second);
  other.follow(flag(false));
  EXPECT_EQ(other.value().item<float>(), 128);
}

/// Updates of a small model in float16.
class Float16 : public ::testing::Test {
 protected:
  Float16()
      : model_(test::formula_model(
            test::model_config("d_model: 16, d_ff: 32, num_blocks: 1, num_heads: 2, dropout_rate: 0"), 24, 24)),
        adam_(named_parameters(*model_), {}),
        objective_(make_objective(TrainingConfig{.smoothing = 0.1})) {
    model_->train();
  }
  UpdateStats update(LossScale* scale, int64_t number = 1) {
    return train_update(
        {.model = *model_, .optimizer = adam_, .objective = *objective_, .clip_norm = 1, .loss_scale = scale},
        {test::batch_of({{{5, 6, 7}, {8, 9}}, {{10, 11}, {12, 13, 14}}})}, {1, number}, 0.001);
  }
  torch::Tensor weights() const {
    std::vector<torch::Tensor> all;
    for (const auto& item : named_parameters(*model_)) all.push_back(item.second.detach().flatten());
    return torch::cat(all);
  }

  std::shared_ptr<TranslationModel> model_;
  Adam adam_;
  std::unique_ptr<Objective> objective_;
};

TEST_F(Float16, ComputesWhatFloat32Does) {
  const double norm = update(nullptr).gradient_norm;
  const auto here = weights();
  SetUp();
  test::set_formula_weights(*model_, test::model_config("d_model: 16, d_ff: 32, num_blocks: 1, num_heads: 2"));
  model_->set_compute_type(torch::kFloat16);
  LossScale scale(torch::kCPU, {.initial = 1024});
  const auto stats = update(&scale);
  EXPECT_FALSE(stats.skipped);
  EXPECT_EQ(stats.loss_scale, 1024);
  EXPECT_NEAR(stats.gradient_norm, norm, 0.01 * norm);
  test::expect_close(weights(), here, 0.0022, "one step of Adam is at most the learning rate");
}

// 10 of 10: whatever parameter overflows, the update is left out, nothing moves, and the scale falls.
TEST_F(Float16, EachOverflowIsFound) {
  model_->set_compute_type(torch::kFloat16);
  const auto parameters = named_parameters(*model_);
  ASSERT_GE(parameters.size(), 10U);
  for (size_t i = 0; i < parameters.size(); ++i) {
    LossScale scale(torch::kCPU, {.initial = 1024});
    const auto before = weights();
    const auto hook = parameters[i].second.register_hook([&](const torch::Tensor& gradient) {
      auto overflows = gradient.clone();
      overflows.flatten()[gradient.numel() / 2] = kOverflows;
      return overflows;
    });
    const auto stats = update(&scale, static_cast<int64_t>(i) + 1);
    parameters[i].second.remove_hook(hook);
    EXPECT_TRUE(stats.skipped) << parameters[i].first;
    EXPECT_EQ(scale.value().item<float>(), 512) << parameters[i].first;
    EXPECT_TRUE(weights().equal(before)) << parameters[i].first;
  }
}

// A scale at which the products of the backward pass really overflow comes down by itself, and training continues.
TEST_F(Float16, ComesDownToAScaleThatFits) {
  model_->set_compute_type(torch::kFloat16);
  LossScale scale(torch::kCPU, {.initial = 0x1p40});
  int64_t skipped = 0, number = 1;
  for (; number < 60; ++number) {
    const auto stats = update(&scale, number);
    skipped += stats.skipped;
    if (!stats.skipped) break;
  }
  EXPECT_GT(skipped, 5);
  EXPECT_LT(number, 60);
  const double before = update(&scale, 100).loss;
  for (int64_t i = 101; i < 120; ++i) EXPECT_FALSE(update(&scale, i).skipped) << i;
  EXPECT_LT(update(&scale, 120).loss, 0.95 * before);
}

// Skipped updates are what a falling scale is made of; without a scale they say that the model has diverged.
TEST(LossScale, OverflowsDoNotCountAsDivergence) {
  test::CapturedLog log;
  const UpdateGuard guard(0.001, log.log());
  ProgressState progress;
  for (int64_t number = 1; number <= 30; ++number) guard.check(number, {.skipped = true, .loss_scale = 1024}, progress);
  EXPECT_EQ(progress.skipped_updates, 30);
  for (int64_t number = 31; number < 40; ++number) guard.check(number, {.skipped = true, .loss_scale = 1}, progress);
  EXPECT_ANY_THROW(guard.check(40, {.skipped = true, .loss_scale = 1}, progress));
}

}  // namespace
}  // namespace nmt::loss_scale_test
