// Training on a device that is not the host: every preset, made tiny, as on the CPU; the host waits for nothing during
// an update.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>

#include "models/formula_weights.h"
#include "models/loss.h"
#include "models/model_directory.h"
#include "nn/device/device.h"
#include "nn/layers/gradient_checkpointing.h"
#include "on_device/device_under_test.h"
#include "on_device/tiny_presets.h"
#include "tensor_support.h"
#include "training/loop/averages.h"
#include "training/loop/objectives.h"
#include "training/loop/train_update.h"
#include "training/optimizers/optimizer.h"
#include "training/optimizers/schedule.h"

namespace nmt::on_device_training_test {
namespace {

using test::batch_of;
using test::DeviceMemory;
using test::kPresetVocabulary;
using test::NoWaits;
using test::Order;
using test::preset_pairs;
using test::set_order;
using test::set_usual_order;
using ::testing::IsEmpty;

/// A run of updates as the loop makes them: the figures of one are read while the next one is on its way.
class TinyRun {
 public:
  TinyRun(const Config& config, torch::Device device, at::ScalarType type = torch::kFloat32)
      : config_(config), device_(device) {
    model_ = make_model(config.model, kPresetVocabulary, kPresetVocabulary);
    initialise(*model_, config.model, 3);
    move_module(*model_, device);
    model_->set_compute_type(type);
    set_gradient_checkpointing(*model_, config.training.gradient_checkpointing);
    model_->train();
    optimizer_ = make_optimizer(config.training, named_parameters(*model_));
    objective_ = make_objective(config);
    if (config.training.ema_decay > 0) average_.emplace(named_parameters(*model_), config.training.ema_decay);
  }

  LaunchedUpdate launch(int64_t number, std::vector<Batch> batches) {
    const auto rate = make_schedule(config_.training, config_.model.d_model)({.update = number});
    auto launched = launch_update({.model = *model_,
                                   .optimizer = *optimizer_,
                                   .objective = *objective_,
                                   .device = device_,
                                   .clip_norm = config_.training.clip_norm,
                                   .loss_mean = config_.training.loss_mean,
                                   .teacher_forcing = config_.training.teacher_forcing},
                                  std::move(batches), {1, number}, rate);
    if (average_) average_->follow(number);
    return launched;
  }

  std::vector<UpdateStats> train(int64_t updates) {
    std::vector<UpdateStats> all;
    std::optional<LaunchedUpdate> before;
    for (int64_t number = 1; number <= updates; ++number) {
      const std::vector<Batch> batches = {batch_of(preset_pairs(5, number)), batch_of(preset_pairs(3, 100 + number))};
      auto launched = launch_watched(number, batches);
      if (before) all.push_back(before->stats());
      before = std::move(launched);
    }
    all.push_back(before->stats());
    return all;
  }

  LaunchedUpdate launch_watched(int64_t number, const std::vector<Batch>& batches) {
    if (device_.is_cpu()) return launch(number, batches);
    const NoWaits waits;
    auto launched = launch(number, batches);
    const auto found = waits.found();
    synchronisations.insert(synchronisations.end(), found.begin(), found.end());
    late += waits.late();
    return launched;
  }

  double held_out_loss() {
    model_->eval();
    const std::vector<Batch> batches = {batch_of(preset_pairs(4, 50)), batch_of(preset_pairs(2, 51))};
    const auto totals = evaluate(*model_, batches, 0.1, device_);
    model_->train();
    return totals.loss;
  }
  NamedTensors parameters() const { return named_parameters(*model_); }
  TranslationModel& model() { return *model_; }
  Optimizer& optimizer() { return *optimizer_; }

  std::vector<std::string> synchronisations;
  int64_t late = 0;

 private:
  Config config_;
  torch::Device device_;
  std::shared_ptr<TranslationModel> model_;
  std::unique_ptr<Optimizer> optimizer_;
  std::unique_ptr<Objective> objective_;
  std::optional<MovingAverage> average_;
};

class OnDevice : public test::DeviceTest {};

void expect_same_run(const std::vector<UpdateStats>& here, const std::vector<UpdateStats>& there, double tolerance) {
  ASSERT_EQ(here.size(), there.size());
  for (size_t i = 0; i < here.size(); ++i) {
    EXPECT_NEAR(there[i].loss, here[i].loss, tolerance * std::abs(here[i].loss)) << "update " << i + 1;
    EXPECT_NEAR(there[i].label_loss, here[i].label_loss, tolerance * std::abs(here[i].label_loss))
        << "update " << i + 1;
    EXPECT_NEAR(there[i].gradient_norm, here[i].gradient_norm, 10 * tolerance * here[i].gradient_norm)
        << "update " << i + 1;
    EXPECT_EQ(there[i].target_tokens, here[i].target_tokens);
    EXPECT_FALSE(there[i].skipped);
    EXPECT_FALSE(there[i].split);
  }
}

class EveryPreset : public OnDevice, public ::testing::WithParamInterface<std::string> {};

TEST_P(EveryPreset, TrainsAsOnTheCpu) {
  const auto config = test::tiny_preset(GetParam());
  TinyRun cpu(config, torch::kCPU);
  const auto expected = cpu.train(4);
  const double expected_loss = cpu.held_out_loss();
  set_usual_order(Order::kSeeded, 5);
  TinyRun run(config, device_);
  expect_same_run(expected, run.train(4), test::kSimulated ? 2e-5 : 1e-3);
  EXPECT_THAT(run.synchronisations, IsEmpty()) << "during updates";
  const double tolerance = (test::kSimulated ? 5e-5 : 5e-4) * expected_loss;
  if (!test::kSimulated) {
    EXPECT_NEAR(run.held_out_loss(), expected_loss, tolerance);
    return;
  }
  EXPECT_GT(run.late, 0);
  const NoWaits waits;
  EXPECT_NEAR(run.held_out_loss(), expected_loss, tolerance);
  EXPECT_EQ(waits.found().size(), 1U) << "of a validation's loss";
}

TEST_P(EveryPreset, TrainsInBfloat16AsOnTheCpu) {
  const auto config = test::tiny_preset(GetParam());
  TinyRun cpu(config, torch::kCPU, torch::kBFloat16);
  set_usual_order(Order::kLate);
  TinyRun run(config, device_, torch::kBFloat16);
  expect_same_run(cpu.train(2), run.train(2), 0.02);
  EXPECT_THAT(run.synchronisations, IsEmpty());
}

INSTANTIATE_TEST_SUITE_P(All, EveryPreset, ::testing::ValuesIn(test::presets()),
                         [](const auto& info) { return info.param; });

TEST_F(OnDevice, EveryOptimizerLeavesItsQuestionsToTheDevice) {
  set_usual_order(Order::kLate);
  for (const char* name : {"adam", "adamw", "radam", "adafactor", "sgd", "adadelta"}) {
    SCOPED_TRACE(name);
    auto config = test::tiny_preset("quickstart");
    config.training.optimizer = Choice<OptimizerKind>(name);
    TinyRun cpu(config, torch::kCPU), run(config, device_);
    expect_same_run(cpu.train(6), run.train(6), 1e-4);
    EXPECT_THAT(run.synchronisations, IsEmpty());
  }
}

// A gradient that is no number: weights and moments stay, and nobody asks.
TEST_F(OnDevice, AnUpdateThatIsNoNumberChangesNothing) {
  set_usual_order(Order::kLate);
  for (const char* name : {"adam", "radam", "adafactor", "sgd", "adadelta"}) {
    SCOPED_TRACE(name);
    auto config = test::tiny_preset("quickstart");
    config.training.optimizer = Choice<OptimizerKind>(name);
    TinyRun run(config, device_);
    run.train(2);
    const auto copies = [&] {
      std::vector<torch::Tensor> all;
      for (const auto& item : run.parameters()) all.push_back(item.second.detach().cpu());
      for (const auto& item : run.optimizer().state()) all.push_back(item.second.cpu());
      return all;
    };
    const auto before = copies();
    for (const auto& item : run.parameters()) {
      const torch::NoGradGuard no_grad;
      item.second.mutable_grad() = torch::ones_like(item.second);
    }
    {
      const NoWaits waits;
      run.optimizer().step_unless(torch::ones({}, device_), 0.1);
      EXPECT_THAT(waits.found(), IsEmpty());
    }
    const auto after = copies();
    for (size_t i = 0; i < before.size(); ++i) EXPECT_TRUE(before[i].equal(after[i])) << i;
  }
}

#ifndef NMT_TESTS_OF_CUDA

TEST_F(OnDevice, OutOfMemorySplitsTheBatchAndGoesOn) {
  const auto config = test::tiny_preset("vaswani_base");
  const std::vector<Batch> batches = {batch_of(preset_pairs(16, 1))};
  for (const auto order : {Order::kAtOnce, Order::kLate}) {
    set_order(order);
    TinyRun whole(config, device_), limited(config, device_);
    const auto expected_first = whole.launch(1, batches).stats();
    const int64_t held = DeviceMemory::in_use();
    DeviceMemory::reset_peak();
    const auto expected = whole.launch(2, batches).stats();
    const int64_t needed = DeviceMemory::peak() - held;
    EXPECT_EQ(limited.launch(1, batches).stats().loss, expected_first.loss);
    simulated::set_memory_limit(DeviceMemory::in_use() + needed * 3 / 4);
    const auto found = limited.launch(2, batches).stats();
    simulated::set_memory_limit(std::nullopt);
    EXPECT_TRUE(found.split);
    EXPECT_NEAR(found.loss, expected.loss, 1e-4 * expected.loss);
    EXPECT_NEAR(found.gradient_norm, expected.gradient_norm, 1e-3 * expected.gradient_norm);
    EXPECT_NEAR(limited.launch(3, batches).stats().loss, whole.launch(3, batches).stats().loss, 1e-3 * expected.loss);
  }
}

// Wherever the memory ends, what was begun is taken back.
TEST_F(OnDevice, OutOfMemoryAtAnyAllocation) {
  const auto config = test::tiny_preset("quickstart");
  const std::vector<Batch> batches = {batch_of(preset_pairs(6, 1))};
  TinyRun whole(config, device_);
  whole.launch(1, batches).stats();
  const auto expected = whole.launch(2, batches).stats();
  for (const int64_t at : {3, 20, 60, 110, 150}) {
    TinyRun run(config, device_);
    run.launch(1, batches).stats();
    simulated::fail_allocation_after(at);
    const auto found = run.launch(2, batches).stats();
    EXPECT_TRUE(found.split) << at;
    EXPECT_NEAR(found.loss, expected.loss, 1e-4 * expected.loss) << at;
    EXPECT_NEAR(found.gradient_norm, expected.gradient_norm, 1e-3 * expected.gradient_norm) << at;
  }
  simulated::fail_allocation_after(-1);
}

#endif

// Dropout is the device's own: of the seed, the update and the micro-batch.
TEST_F(OnDevice, DropoutIsAFunctionOfTheUpdate) {
  auto config = test::tiny_preset("vaswani_base");
  config.model.dropout_rate = 0.3;
  std::vector<double> losses;
  for (const auto order : {Order::kAtOnce, Order::kLate, Order::kSeeded}) {
    set_order(order, 9);
    TinyRun run(config, device_);
    torch::rand({3}, device_);  // what ran before does not matter
    losses.push_back(run.train(3).back().loss);
  }
  for (const double loss : losses) EXPECT_NEAR(loss, losses[0], test::kSimulated ? 0 : 1e-3 * losses[0]);
  config.model.dropout_rate = 0;
  EXPECT_NE(TinyRun(config, device_).train(3).back().loss, losses[0]);
}

// The second computation of a block draws what the first one drew, from the device's own generator; and nobody waits.
TEST_F(OnDevice, GradientCheckpointingDrawsTheSameMasks) {
  for (const char* preset : {"vaswani_base", "deep_encoder_6_2", "bahdanau2015"}) {
    SCOPED_TRACE(preset);
    auto config = test::tiny_preset(preset);
    config.model.dropout_rate = 0.3;
    set_order(Order::kLate);
    TinyRun plain(config, device_);
    config.training.gradient_checkpointing = true;
    TinyRun checkpointed(config, device_);
    expect_same_run(plain.train(3), checkpointed.train(3), test::kSimulated ? 1e-6 : 1e-3);
    EXPECT_THAT(checkpointed.synchronisations, IsEmpty());
  }
}

}  // namespace
}  // namespace nmt::on_device_training_test
