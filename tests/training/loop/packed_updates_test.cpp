#include "training/loop/packed_updates.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <limits>
#include <map>

#include "models/model_directory.h"
#include "training/loop/train_update.h"
#include "training/packed/packed_adam.h"
#include "training/packed/packed_support.h"
#include "training/packed/plain_operations.h"

namespace nmt::packed_updates_test {
namespace {

using test::packed_batch;
using test::packed_config;
using test::packed_model;

void hand_over(const NamedTensors& from, const NamedTensors& to) {
  const torch::NoGradGuard no_grad;
  for (size_t i = 0; i < from.size(); ++i) to[i].second.detach().copy_(from[i].second);
}

// A run by the model and autograd, or on packed words.
struct TinyRun {
  /// weights: what it resumes from; null: the formula's.
  TinyRun(const Config& config, bool packs, const TranslationModel* weights = nullptr)
      : config(config), model(packed_model(config.model)) {
    if (weights) hand_over(named_parameters(*weights), named_parameters(*model));
    objective = make_objective(this->config);
    if (packs)
      packed =
          std::make_unique<PackedUpdates>(this->config, *model, std::make_shared<PlainOperations>(), torch::kFloat32);
    optimizer = packs ? packed->make_optimizer() : make_optimizer(config.training, named_parameters(*model));
  }
  UpdateStats update(std::vector<Batch> batches, int64_t number, double rate = 0.01) {
    return train_update({.model = *model,
                         .optimizer = *optimizer,
                         .objective = *objective,
                         .clip_norm = config.training.clip_norm,
                         .loss_mean = config.training.loss_mean,
                         .packed = packed.get()},
                        std::move(batches), {.seed = 3, .update = number}, rate);
  }

  Config config;
  std::shared_ptr<TranslationModel> model;
  std::unique_ptr<Objective> objective;
  std::unique_ptr<PackedUpdates> packed;
  std::unique_ptr<Optimizer> optimizer;
};

void expect_alike(const NamedTensors& got, const NamedTensors& expected, double bound) {
  ASSERT_EQ(got.size(), expected.size());
  for (size_t i = 0; i < got.size(); ++i) {
    EXPECT_EQ(got[i].first, expected[i].first);
    ASSERT_EQ(got[i].second.sizes(), expected[i].second.sizes()) << got[i].first;
    EXPECT_EQ(got[i].second.scalar_type(), expected[i].second.scalar_type()) << got[i].first;
    const auto size = expected[i].second.norm().item<double>();
    EXPECT_LE((got[i].second - expected[i].second).norm().item<double>(), bound * (size + 1e-4)) << got[i].first;
  }
}

// A large epsilon: gradients that are zero but for rounding move nothing.
const char* const kTraining =
    "smoothing: 0.1, smoothing_form: others_normalized, clip_norm: 0.5, loss_mean: sentences, weight_decay: 0.01, "
    "adam_epsilon: 0.001, word_dropout1: 0.2, word_dropout2: 0.1";

// The second batch of an update has a sentence that no tile takes.
std::vector<Batch> batches_of(int64_t update) {
  return {packed_batch({{5 + update, 3}, {2, 34}, {70, 12}}), packed_batch({{4, 129 + update}, {6, 6}})};
}

TEST(PackedUpdates, UpdatesAreThoseOfTheGeneralPath) {
  const auto config = packed_config("norm: pre", kTraining);
  TinyRun packed(config, true), general(config, false);
  EXPECT_TRUE(packed.packed->takes(batches_of(1)[0]));
  EXPECT_FALSE(packed.packed->takes(batches_of(1)[1]));
  for (int64_t update = 1; update <= 3; ++update) {
    const auto got = packed.update(batches_of(update), update), expected = general.update(batches_of(update), update);
    EXPECT_NEAR(got.loss, expected.loss, 1e-5 * expected.loss);
    EXPECT_NEAR(got.label_loss, expected.label_loss, 1e-5 * expected.label_loss);
    EXPECT_EQ(got.correct, expected.correct);
    EXPECT_NEAR(got.gradient_norm, expected.gradient_norm, 1e-5 * expected.gradient_norm);
    EXPECT_GT(got.gradient_norm, 0.5);
    EXPECT_FALSE(got.skipped);
  }
  expect_alike(named_parameters(*packed.model), named_parameters(*general.model), 1e-5);
  expect_alike(packed.optimizer->state(), general.optimizer->state(), 2e-4);
}

// The state of either optimizer continues in the other one.
/// The CPU's counterpart of a graph: what is recorded runs again, and reads and writes what it did then.
class KeptWork final : public GraphRecorder {
 public:
  static inline int recordings = 0, replays = 0;
  void record(int64_t number, const std::function<void()>& work) override { ++recordings, works_[number] = work; }
  void replay(int64_t number) override { ++replays, works_.at(number)(); }

 private:
  std::map<int64_t, std::function<void()>> works_;
};

// The same masks of dropout: they depend on a word's place alone.
TEST(PackedUpdates, SmallBatchesReplayWhatIsRecordedForTheirSize) {
  const std::string training = kTraining;
  for (const auto& [model, more] :
       {std::pair{"norm: pre, dropout_rate: 0.1", ""},
        {"positions: learned, max_positions: 140, dropout_rate: 0.1", ", objective: rdrop"}}) {
    SCOPED_TRACE(model);
    const auto config = packed_config(model, training + more);
    TinyRun alone(config, true), recorded(config, true);
    KeptWork::recordings = KeptWork::replays = 0;
    for (int64_t update = 1; update <= 3; ++update) {
      const std::vector<Batch> batches{
          packed_batch({{5 + update, 3}, {2, 34}, {10, 12 + update}}),
          packed_batch(
              {{63, 1}, {1, 63}, {60, 61}, {60, 61}, {63, 60}, {62, 63}, {61, 62}, {7, 50}, {50, 40}, {60, 62}})};
      const auto expected = alone.update(batches, update);
      set_graph_recorder(torch::kCPU, [](torch::Device) { return std::make_unique<KeptWork>(); });
      const auto got = recorded.update(batches, update);
      set_graph_recorder(torch::kCPU, nullptr);
      EXPECT_NEAR(got.loss, expected.loss, 1e-6 * expected.loss);
      EXPECT_EQ(got.correct, expected.correct);
      EXPECT_NEAR(got.gradient_norm, expected.gradient_norm, 1e-5 * expected.gradient_norm);
    }
    EXPECT_EQ(KeptWork::recordings, 2);
    EXPECT_EQ(KeptWork::replays, 4);
    expect_alike(named_parameters(*recorded.model), named_parameters(*alone.model), 1e-5);
  }
}

// Padding would have places behind the last position.
TEST(PackedUpdates, FewPositionsAreNotRecorded) {
  TinyRun run(packed_config("positions: learned, max_positions: 40", kTraining), true);
  KeptWork::recordings = 0;
  set_graph_recorder(torch::kCPU, [](torch::Device) { return std::make_unique<KeptWork>(); });
  EXPECT_NO_THROW(run.update({packed_batch({{5, 3}})}, 1));
  set_graph_recorder(torch::kCPU, nullptr);
  EXPECT_EQ(KeptWork::recordings, 0);
}

TEST(PackedUpdates, EitherPathContinuesWhatTheOtherHasLeft) {
  const auto config = packed_config("", kTraining);
  for (const bool packs_first : {false, true}) {
    TinyRun first(config, packs_first);
    first.update(batches_of(1), 1);
    first.update(batches_of(2), 2);
    TinyRun second(config, !packs_first, first.model.get());
    hand_over(first.optimizer->state(), second.optimizer->state());
    first.update(batches_of(3), 3);
    second.update(batches_of(3), 3);
    expect_alike(named_parameters(*second.model), named_parameters(*first.model), 1e-5);
    EXPECT_EQ(second.optimizer->state()[2].second.item<float>(), 3) << "steps";
  }
}

TEST(PackedUpdates, AnUpdateThatIsNotFiniteIsLeftOut) {
  const auto config = packed_config("", kTraining);
  TinyRun run(config, true);
  run.update({packed_batch({{5, 3}})}, 1);
  const auto before = named_parameters(*run.model).front().second.detach().clone();
  run.optimizer->clear_gradients();
  run.optimizer->gradients().front().fill_(std::numeric_limits<float>::infinity());
  run.optimizer->clip_gradients(1);
  run.optimizer->step_unless(torch::zeros({}), 0.1);
  EXPECT_TRUE(named_parameters(*run.model).front().second.equal(before));
  run.optimizer->clear_gradients();
  run.optimizer->gradients().front().fill_(1);
  run.optimizer->clip_gradients(0);
  run.optimizer->step_unless(torch::ones({}), 0.1);
  EXPECT_TRUE(named_parameters(*run.model).front().second.equal(before));
  EXPECT_EQ(run.optimizer->state()[2].second.item<float>(), 1) << "steps";
  run.optimizer->step_unless(torch::zeros({}), 0.1);
  EXPECT_FALSE(named_parameters(*run.model).front().second.equal(before));
}

TEST(PackedUpdates, WhatTheKernelsDoNotTakeIsNamed) {
  const auto reason = [](const std::string& model, const std::string& training = "") {
    return reason_against_packed_updates(packed_config(model, training), 1);
  };
  for (const char* model : {"", "norm: pre", "norm: pre, norm_form: rms", "positions: learned", "positions: rotary",
                            "positions: none", "tie_embeddings: none", "deep_init: depth_scaled", "d_model: 128"})
    EXPECT_EQ(reason(model), "") << model;
  EXPECT_EQ(reason("dropout_rate: 0.1", "objective: rdrop, optimizer: adamw, weight_decay: 0.1, bpe_dropout1: 0.1"),
            "");
  EXPECT_EQ(reason("num_heads: 2"), "model.num_heads: heads of 32 features, not 64 or 128");
  EXPECT_EQ(reason("d_model: 1088, num_heads: 17"), "model.d_model: 1088");
  EXPECT_EQ(reason("d_ff: 40"), "model.d_ff: 40 is no multiple of 16");
  EXPECT_EQ(reason("activation: gelu"), "model.activation: gelu");
  EXPECT_EQ(reason("positions: shaw"), "model.positions: shaw");
  EXPECT_EQ(reason("norm: pre, final_norm: false"), "model.final_norm: false");
  EXPECT_EQ(reason("deep_init: deepnet"), "model.deep_init: deepnet");
  EXPECT_EQ(reason("decoder_mixer: average"), "model.decoder_mixer: average");
  EXPECT_EQ(reason("d_model: 128, num_heads: 2, key_value_heads: 1"), "model.key_value_heads: 1");
  EXPECT_EQ(reason("dropout_rate: 0.1", "objective: simcut"), "training.objective: simcut");
  EXPECT_EQ(reason("", "optimizer: sgd"), "training.optimizer: sgd");
  EXPECT_EQ(reason("", "gradient_checkpointing: true"), "training.gradient_checkpointing");
  EXPECT_EQ(reason_against_packed_updates(packed_config(), 2), "2 processes");
  const auto support = packed_update_supports(packed_config(), torch::kCPU, torch::kBFloat16, 1);
  EXPECT_FALSE(support.operations);
  EXPECT_EQ(support.reason, "no CUDA device");
}

}  // namespace
}  // namespace nmt::packed_updates_test
