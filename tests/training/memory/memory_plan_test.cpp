// What is computed of memory against what one update of a real model takes on the CPU.
#include "training/memory/memory_plan.h"

#include <ATen/Parallel.h>
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>

#include "config/loading/schema.h"
#include "models/make_model.h"
#include "models/model_directory.h"
#include "models/tiny_batch.h"
#include "nn/device/cpu_allocator.h"
#include "nn/device/device.h"
#include "nn/modules/gradient_checkpointing.h"
#include "support.h"
#include "training/averages/moving_average.h"
#include "training/optimizers/make_optimizer.h"
#include "training/trained_update.h"

namespace nmt::memory_plan_test {
namespace {

constexpr double kTolerance = 0.15;  // docs/gpu.md says so

struct Setting {
  std::vector<std::string> changes = {};
  std::string precision = "fp32";
  int64_t vocabulary = 1000, rows = 32, source = 24, target = 21;
};

/// A preset of configs/ with small layers.
Config small_preset(const std::string& name, const Setting& setting, bool tiny = true) {
  const auto path = test::source_directory() / "configs" / (name + ".yaml");
  const auto whole = load_config(path).config;
  constexpr int64_t kModel = 64;
  std::vector<std::string> changes = {"training.accumulate=1"};
  const auto& model = whole.model;
  if (tiny) {
    changes.push_back(fmt::format("model.d_model={}", kModel));
    if (model.architecture == Architecture::kTransformer)
      changes.insert(changes.end(),
                     {fmt::format("model.d_ff={}", model.d_ff * kModel / model.d_model), "model.num_heads=4"});
    if (model.num_blocks > 3) changes.emplace_back("model.num_blocks=3");
    const auto share = [&](const char* option, int64_t size) {
      if (size > 0) changes.push_back(fmt::format("model.{}={}", option, size * kModel / model.d_model));
    };
    share("embedding_size", model.embedding_size);
    share("encoder_size", model.encoder_size);
    share("attention_size", model.attention_size);
    share("readout_size", model.readout_size);
  }
  changes.insert(changes.end(), setting.changes.begin(), setting.changes.end());
  return load_config(path, changes).config;
}

/// The most that tensors have in use in the second update of a run.
int64_t measured(const Config& config, const Setting& setting) {
  measure_tensors_anew();
  const int64_t before = most_tensor_bytes_in_use();
  const auto model = make_model(config.model, setting.vocabulary, setting.vocabulary);
  initialise(*model, config.model, 1);
  model->set_compute_type(type_of_precision(setting.precision));
  set_gradient_checkpointing(*model, config.training.gradient_checkpointing, config.training.checkpointed_blocks);
  const auto optimizer = make_optimizer(config.training, named_parameters(*model));
  std::optional<MovingAverage> average;
  if (config.training.ema_decay > 0) average.emplace(named_parameters(*model), config.training.ema_decay);
  const auto words = [&](int64_t count) { return std::vector<int64_t>(static_cast<size_t>(count - 1), 9); };
  const auto batch = test::batch_of(
      std::vector<test::Pair>(static_cast<size_t>(setting.rows), {words(setting.source), words(setting.target)}));
  for (int64_t update = 1; update <= 2; ++update) {
    measure_tensors_anew();
    test::update({*model, *optimizer}, std::vector<Batch>(static_cast<size_t>(config.training.accumulate), batch),
                 config.training, 1e-4, {1, update});
    if (average) average->follow(update);
  }
  return most_tensor_bytes_in_use() - before;
}

MemoryPlan planned(const Config& config, const Setting& setting, int64_t processes = 1) {
  const MemoryModel model({.config = config,
                           .source_vocabulary = setting.vocabulary,
                           .target_vocabulary = setting.vocabulary,
                           .batch = {setting.rows, setting.source, setting.target},
                           .place = place_of(true, setting.precision),
                           .processes = processes});
  return model.plan();
}

class MemoryPlanTest : public ::testing::Test {
 protected:
  void SetUp() override {
    reuse_freed_tensors();
    at::set_num_threads(1);
  }
  void TearDown() override { at::set_num_threads(threads_); }

  static void expect_as_measured(const Config& config, const Setting& setting) {
    const auto plan = planned(config, setting);
    const int64_t found = measured(config, setting);
    const double ratio = static_cast<double>(plan.most) / static_cast<double>(found);
    EXPECT_NEAR(ratio, 1, kTolerance) << fmt::format(
        "computed {}, measured {}; {}", format_bytes(plan.most), format_bytes(found),
        format_memory(plan, {setting.rows, setting.source, setting.target}));
  }
  const int threads_ = at::get_num_threads();
};

TEST_F(MemoryPlanTest, EveryPresetTakesWhatIsComputed) {
  for (const auto& file : std::filesystem::directory_iterator(test::source_directory() / "configs")) {
    const auto name = file.path().stem().string();
    for (const std::string checkpointing : {"false", "true"}) {
      SCOPED_TRACE(name + ", gradient_checkpointing: " + checkpointing);
      Setting setting{.changes = {"training.gradient_checkpointing=" + checkpointing}};
      const auto config = small_preset(name, setting);
      for (auto* width : {&setting.source, &setting.target}) *width = std::min(*width, config.model.max_positions);
      expect_as_measured(config, setting);
    }
  }
}

TEST_F(MemoryPlanTest, SmallAsItIs) {
  const Setting setting{.changes = {"training.ema_decay=0.99"}, .vocabulary = 8000, .rows = 64};
  expect_as_measured(small_preset("multi30k_de_en", setting, /*tiny=*/false), setting);
}

TEST_F(MemoryPlanTest, OtherPrecisionsAndSettings) {
  const std::vector<Setting> settings = {
      {.precision = "bf16"},
      {.changes = {"training.accumulate=3"}},
      {.changes = {"training.gradient_checkpointing=true", "training.checkpointed_blocks=1", "model.num_blocks=4"}},
      {.changes = {"model.positions=rotary"}},
      {.changes = {"model.activation=swiglu", "model.norm_form=rms"}},
      {.changes = {"model.decoder_mixer=average"}},
      {.changes = {"model.decoder_mixer=ssru"}},
      {.changes = {"training.optimizer=adafactor", "training.adam_beta2=0.999"}, .vocabulary = 8000, .rows = 4},
      {.vocabulary = 8000, .rows = 2, .source = 200, .target = 180},
  };
  for (const auto& setting : settings) {
    SCOPED_TRACE(setting.changes.empty() ? setting.precision : setting.changes.front());
    expect_as_measured(small_preset("multi30k_de_en", setting), setting);
  }
}

// Sizes that a small machine could not allocate; by hand from the papers' sizes.
TEST_F(MemoryPlanTest, KnowsTheWeightsOfABigModelWithoutMemory) {
  const Setting setting{.changes = {"training.shard_optimizer=true"}, .vocabulary = 37000};
  const auto config = small_preset("vaswani_big", setting, /*tiny=*/false);
  const auto plan = planned(config, setting);
  EXPECT_NEAR(static_cast<double>(plan.parameters), 4 * 214.2e6, 0.1 * 4 * 214.2e6);
  EXPECT_NEAR(static_cast<double>(plan.optimizer), 2.0 * static_cast<double>(plan.parameters), 0.02 * plan.optimizer);
  const auto shared = planned(config, setting, 4);
  EXPECT_NEAR(static_cast<double>(shared.optimizer), static_cast<double>(plan.optimizer) / 4, 0.02 * plan.optimizer);
}

TEST_F(MemoryPlanTest, GrowsWithTheBatchAndIsToldInOneLine) {
  const Setting small, large{.rows = 96};
  const auto config = small_preset("multi30k_de_en", small);
  EXPECT_GT(planned(config, large).most, planned(config, small).most);
  MemoryPlan plan{.parameters = 30'300'000, .gradients = 30'300'000, .optimizer = 1'500, .most = 2'340'000'000};
  EXPECT_EQ(format_memory(plan, {64, 31, 35}),
            "memory: 30.3 MB parameters, 30.3 MB gradients, 1.5 KB optimizer, at most 2.34 GB at once (largest batch: "
            "64 pairs of 31 and 35 tokens)");
}

}  // namespace
}  // namespace nmt::memory_plan_test
