// An optimizer, a schedule and an objective in the loop of a run.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "config/loading/schema.h"
#include "data/preparation/prepared_corpus_writer.h"
#include "extending/distillation.h"
#include "extending/lion.h"
#include "extending/tiny_training.h"
#include "extending/warmup_stable_decay.h"
#include "support.h"
#include "training/captured_log.h"
#include "training/loop/update_loop.h"

namespace fs = std::filesystem;

namespace nmt::extending_training_test {
namespace {

using test::kTinyVocabulary;
using test::tiny_config;

std::shared_ptr<TranslationModel> tiny_model() {
  auto model = make_model(tiny_config(), kTinyVocabulary, kTinyVocabulary);
  initialise(*model, tiny_config(), 1);
  model->train();
  return model;
}

/// A run of `updates` updates: what it is made of is given, not configured.
class Run final : TrainingObserver {
 public:
  struct Result {
    std::vector<double> losses, rates;  ///< of each update
  };
  static Result of(TranslationModel& model, Optimizer& optimizer, Objective& objective, Schedule schedule,
                   int64_t updates) {
    return Run(updates).train(model, optimizer, objective, std::move(schedule));
  }

 private:
  explicit Run(int64_t updates)
      : config_(parse_config(
                    "{training: {num_epochs: 0, max_updates: " + std::to_string(updates) + "}, run: {log_every: 1}}",
                    "test")
                    .config) {
    PreparedCorpusWriter writer(folder_ / "train.bin");
    for (const auto& [source, target] : test::made_up_pairs()) {
      const std::vector<int32_t> from(source.begin(), source.end()), to(target.begin(), target.end());
      writer.add({.source = from, .target = to, .source_text = "x", .target_text = "y"});
    }
    writer.finish();
  }

  Result train(TranslationModel& model, Optimizer& optimizer, Objective& objective, Schedule schedule) {
    BatchStream batches(std::make_shared<const PreparedCorpus>(folder_ / "train.bin"),
                        {.type = BatchType::kSentences, .size = 12});
    test::CapturedLog log;
    const CheckpointStore store(folder_ / "checkpoints", log.log());
    const ModelWriter write_model = [&](const fs::path& folder, const nlohmann::json&) {
      save_safetensors(folder / "model.safetensors", named_parameters(model));
    };
    const RunCheckpoints checkpoints(
        {.store = store, .write_model = write_model, .trainer_state = [&] { return optimizer.state(); }, .keep = 1});
    ProgressState progress;
    BestModel best({.model = model,
                    .config = config_,
                    .measure = {},
                    .write_model = write_model,
                    .folder = folder_ / "best",
                    .checkpoints = store,
                    .observer = *this,
                    .log = log.log()},
                   progress);
    SingleProcess alone;
    UpdateLoop loop({.config = config_,
                     .update = {.model = model, .optimizer = optimizer, .objective = objective},
                     .schedule = std::move(schedule),
                     .batches = batches,
                     .best = &best,
                     .checkpoints = &checkpoints,
                     .group = alone,
                     .observer = *this,
                     .log = log.log()},
                    progress);
    EXPECT_EQ(loop.run(), 0);
    EXPECT_EQ(progress.update, config_.training.max_updates);
    return result_;
  }
  void on_interval(const TrainingInterval& interval) override {
    result_.losses.push_back(interval.loss);
    result_.rates.push_back(interval.learning_rate);
  }

  test::TemporaryDirectory folder_;
  Config config_;
  Result result_;
};

Schedule constant(double rate) {
  return [=](const ScheduleTime&) { return rate; };
}

TEST(Extending, AnOptimizer) {
  auto x = torch::tensor({1.f, -2.f, 3.f}).requires_grad_();
  auto left_alone = torch::ones({2}).requires_grad_();
  Lion lion({{"x", x}, {"left", left_alone}}, {.weight_decay = {0.5}});
  x.mutable_grad() = torch::tensor({0.4f, -0.1f, 0.f});
  lion.step(0.1);  // x loses 0.1 * 0.5 of itself and 0.1 in the direction of the gradient
  EXPECT_TRUE(x.detach().allclose(torch::tensor({0.85f, -1.8f, 2.85f}))) << x;
  x.mutable_grad() = torch::tensor({-0.04f, 0.f, 0.f});  // against a momentum of 0.004
  lion.step(0.1);
  EXPECT_NEAR(x[0].item<double>(), 0.95 * 0.85 + 0.1, 1e-6) << "0.9 * 0.004 - 0.1 * 0.04 < 0";
  EXPECT_NEAR(x[1].item<double>(), -0.95 * 1.8 + 0.1, 1e-6) << "the momentum continues";
  EXPECT_TRUE(left_alone.equal(torch::ones({2}))) << "no gradient, no step";
  EXPECT_EQ(lion.state().front().first, "momentum.x");
}

TEST(Extending, AnOptimizerInARun) {
  const auto model = tiny_model();
  Lion lion(named_parameters(*model), {});
  CrossEntropy objective({}, {});
  const auto run = Run::of(*model, lion, objective, constant(0.003), 30);
  ASSERT_EQ(run.losses.size(), 30u);
  EXPECT_LT(run.losses.back(), 0.8 * run.losses.front());
}

TEST(Extending, ASchedule) {
  const auto rate = warmup_stable_decay(0.1, 4, 10, 20);
  EXPECT_DOUBLE_EQ(rate({.update = 1}), 0.025);
  EXPECT_DOUBLE_EQ(rate({.update = 4}), 0.1);
  EXPECT_DOUBLE_EQ(rate({.update = 10}), 0.1);
  EXPECT_DOUBLE_EQ(rate({.update = 15}), 0.05);
  EXPECT_DOUBLE_EQ(rate({.update = 25}), 0);
}

TEST(Extending, AScheduleInARun) {
  const auto model = tiny_model();
  Adam adam(named_parameters(*model), {});
  CrossEntropy objective({}, {});
  const auto run = Run::of(*model, adam, objective, warmup_stable_decay(0.01, 2, 3, 5), 6);
  const std::vector<double> expected = {0.005, 0.01, 0.01, 0.005, 0, 0};
  EXPECT_THAT(run.rates, testing::Pointwise(testing::DoubleNear(1e-12), expected));
}

TEST(Extending, AnObjectiveInARun) {
  const auto teacher = test::formula_model(tiny_config(), kTinyVocabulary, kTinyVocabulary);
  const auto student = tiny_model();
  Adam adam(named_parameters(*student), {});
  Distillation objective(teacher);
  const auto run = Run::of(*student, adam, objective, constant(0.01), 40);
  EXPECT_LT(run.losses.back(), run.losses.front() - 0.3) << "nearer to the teacher, whose entropy stays";
  for (const auto& item : named_parameters(*teacher)) EXPECT_FALSE(item.second.grad().defined()) << item.first;
  const auto batch = to_tensors(test::batch_of(test::made_up_pairs()), torch::kCPU);
  const torch::NoGradGuard no_grad;
  const auto logs = [&](TranslationModel& model) {
    ForwardContext none;
    const auto rows = target_rows(run_model(model, batch, none).hidden, batch);
    return torch::log_softmax(model.logits(rows.hidden), -1).narrow(0, 0, batch.target_lengths.sum().item<int64_t>());
  };
  student->eval();
  const auto untrained = tiny_model();
  untrained->eval();
  const auto of_teacher = logs(*teacher);
  const auto divergence = [&](TranslationModel& model) {
    return (of_teacher.exp() * (of_teacher - logs(model))).sum().item<double>();
  };
  EXPECT_LT(divergence(*student), 0.5 * divergence(*untrained));
}

}  // namespace
}  // namespace nmt::extending_training_test
