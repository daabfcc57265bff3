#include "training/distributed/gradient_buckets.h"

#include <ATen/Parallel.h>
#include <gtest/gtest.h>

#include <cmath>
#include <new>

#include "base/error.h"
#include "base/random.h"
#include "models/formula_weights.h"
#include "models/model_directory.h"
#include "models/tiny_batch.h"
#include "support.h"
#include "tensor_support.h"
#include "training/distributed/thread_processes.h"
#include "training/limited_model.h"
#include "training/optimizers/optimizer.h"
#include "training/trained_update.h"

namespace nmt::gradient_buckets_test {
namespace {

using test::batch_of;
using test::Pair;
using test::ThreadProcesses;

constexpr int64_t kVocabulary = 50;

std::vector<Batch> made_up_batches(int64_t count, int64_t update) {
  std::vector<Batch> batches;
  for (int64_t b = 0; b < count; ++b) {
    std::vector<Pair> pairs;
    for (int64_t p = 0; p < 3 + b; ++p) {
      CounterRandom random({static_cast<uint64_t>(update), static_cast<uint64_t>(b), static_cast<uint64_t>(p)});
      Pair pair;
      for (uint64_t n = 0, words = 1 + random.below(9); n < words; ++n) {
        pair.first.push_back(4 + static_cast<int64_t>(random.below(kVocabulary - 4)));
        pair.second.push_back(4 + static_cast<int64_t>(random.below(kVocabulary - 4)));
      }
      pairs.push_back(pair);
    }
    batches.push_back(batch_of(pairs));
  }
  return batches;
}

/// What must be the same after some updates.
struct Outcome {
  std::vector<torch::Tensor> weights;
  std::vector<UpdateStats> stats;
};

struct Setting {
  int64_t batches = 4;
  int64_t largest = 1000;       ///< sentences of a batch that fit into memory
  int64_t bucket_bytes = 8192;  ///< some ten buckets
};

// Two updates of a model with dropout, in the process of `group`; null: alone.
Outcome trained(const Setting& run, ProcessGroup* group) {
  const auto config = test::model_config("d_model: 16, d_ff: 32, num_blocks: 2, num_heads: 2, dropout_rate: 0.2");
  const auto inner = make_model(config, kVocabulary, kVocabulary);
  initialise(*inner, config, 1);
  test::LimitedModel model(inner, run.largest, [] { throw std::bad_alloc(); });
  const auto parameters = named_parameters(model);
  Adam adam(parameters, {});
  std::unique_ptr<GradientBuckets> buckets;
  if (group) buckets = std::make_unique<GradientBuckets>(parameters, *group, run.bucket_bytes);
  const TrainingConfig training{.clip_norm = 1, .smoothing = 0.1};
  Outcome outcome;
  for (int64_t update = 1; update <= 2; ++update)
    outcome.stats.push_back(test::update({model, adam, torch::kCPU, buckets.get()},
                                         made_up_batches(run.batches, update), training, 0.01, {7, update}));
  for (const auto& item : parameters) outcome.weights.push_back(item.second.detach().clone());
  return outcome;
}

/// Trained by so many processes; each must have the same. adds: of buckets, by one process.
Outcome trained_by(int64_t size, const Setting& run, bool in_order = true, int64_t* adds = nullptr) {
  ThreadProcesses processes(size, in_order);
  std::vector<Outcome> outcomes(size);
  processes.run([&](ProcessGroup& group) { outcomes[group.rank()] = trained(run, &group); });
  for (const auto& other : outcomes)
    for (size_t i = 0; i < other.weights.size(); ++i) EXPECT_TRUE(other.weights[i].equal(outcomes[0].weights[i])) << i;
  if (adds) *adds = processes.adds;
  return outcomes[0];
}

void expect_same(const Outcome& actual, const Outcome& expected) {
  ASSERT_EQ(actual.weights.size(), expected.weights.size());
  for (size_t i = 0; i < expected.weights.size(); ++i) EXPECT_TRUE(actual.weights[i].equal(expected.weights[i])) << i;
  for (size_t i = 0; i < expected.stats.size(); ++i) {
    const auto &a = actual.stats[i], &e = expected.stats[i];
    EXPECT_EQ(a.loss, e.loss);
    EXPECT_EQ(a.label_loss, e.label_loss);
    EXPECT_EQ(a.correct, e.correct);
    EXPECT_EQ(a.source_tokens, e.source_tokens);
    EXPECT_EQ(a.target_tokens, e.target_tokens);
    EXPECT_EQ(a.padded_tokens, e.padded_tokens);
    EXPECT_EQ(a.gradient_norm, e.gradient_norm);
    EXPECT_EQ(a.split, e.split);
    EXPECT_FALSE(a.skipped);
  }
}

/// Sums of kernels that share their work among threads have other bits on other numbers of them.
class GradientBucketsTest : public testing::Test {
 protected:
  void SetUp() override { at::set_num_threads(1); }
  void TearDown() override { at::set_num_threads(threads_); }
  const int threads_ = at::get_num_threads();
};

TEST_F(GradientBucketsTest, AnyNumberOfProcessesGivesTheBitsOfOne) {
  const auto alone = trained({}, nullptr);
  for (const int64_t size : {2, 3, 4}) {
    SCOPED_TRACE(size);
    expect_same(trained_by(size, {}), alone);
  }
}

TEST_F(GradientBucketsTest, TheSizeOfBucketsDoesNotMatter) {
  const auto alone = trained({.batches = 3}, nullptr);
  int64_t small = 0, large = 0;
  expect_same(trained_by(2, {.batches = 3, .bucket_bytes = 1}, true, &small), alone);
  expect_same(trained_by(2, {.batches = 3, .bucket_bytes = 1 << 30}, true, &large), alone);
  EXPECT_EQ(large, 2 * 2) << "one bucket, two rounds, two updates";
  EXPECT_EQ(small, 2 * 2 * std::ssize(alone.weights)) << "a bucket a parameter";
}

TEST_F(GradientBucketsTest, FewerBatchesThanProcesses) {
  expect_same(trained_by(3, {.batches = 2}), trained({.batches = 2}, nullptr));
}

TEST_F(GradientBucketsTest, WithoutOrderOneSumAnUpdateGivesTheSameToRounding) {
  const auto alone = trained({}, nullptr);
  int64_t adds = 0;
  const auto together = trained_by(2, {.bucket_bytes = 1 << 30}, false, &adds);
  EXPECT_EQ(adds, 2) << "one an update";
  EXPECT_NEAR(together.stats[0].gradient_norm, alone.stats[0].gradient_norm, 1e-6 * alone.stats[0].gradient_norm);
  EXPECT_EQ(together.stats[0].loss, alone.stats[0].loss);
  // The last round has a batch for the first process only: what the others have from the first round counts.
  const auto three = trained({.batches = 3}, nullptr), uneven = trained_by(2, {.batches = 3}, false);
  EXPECT_NEAR(uneven.stats[0].gradient_norm, three.stats[0].gradient_norm, 1e-6 * three.stats[0].gradient_norm);
}

TEST_F(GradientBucketsTest, AllCutTheBatchThatDoesNotFitIntoOnesMemory) {
  const Setting run{.largest = 5};  // batches of 3, 4, 5 and 6 sentences
  const auto alone = trained(run, nullptr);
  EXPECT_TRUE(alone.stats[0].split);
  expect_same(trained_by(2, run), alone);
  expect_same(trained_by(3, run), alone);
  // Several at once, and halves that do not fit either.
  expect_same(trained_by(2, {.largest = 2}), trained({.largest = 2}, nullptr));
}

TEST_F(GradientBucketsTest, AllGiveUpTogether) {
  EXPECT_EQ(test::message_of<MachineError>([] { trained_by(2, {.largest = 0}); }),
            "out of memory on a single sentence pair; lower data.maxlen1, data.maxlen2 or the model's size");
}

// A signal cancels it. The next update finds nothing of the one that was cancelled.
TEST_F(GradientBucketsTest, AllGiveUpAnUpdateAtTheSamePlace) {
  for (const bool in_order : {true, false}) {
    ThreadProcesses processes(2, in_order);
    processes.run([&](ProcessGroup& group) {
      const auto config = test::model_config("d_model: 8, d_ff: 8, num_blocks: 1, num_heads: 2, dropout_rate: 0");
      const auto model = test::formula_model(config, kVocabulary, kVocabulary);
      const auto parameters = named_parameters(*model);
      Adam adam(parameters, {});
      GradientBuckets buckets(parameters, group, 1024);
      const auto objective = make_objective(TrainingConfig());
      int64_t asked = 0;
      const auto interrupted = [&] {
        double values[] = {++asked == 2 && group.rank() == 1 ? 1.0 : 0};
        group.sum(values);
        return values[0] > 0;
      };
      UpdateParts parts{.model = *model,
                        .optimizer = adam,
                        .objective = *objective,
                        .processes = &buckets,
                        .is_interrupted = interrupted};
      const auto before = parameters.front().second.detach().clone();
      const std::vector<Batch> many(2 * 3 * kBatchesBetweenQuestions, made_up_batches(1, 1).front());
      EXPECT_THROW(train_update(parts, many, {}, 0.1), Interrupted);
      EXPECT_EQ(asked, 2);
      EXPECT_TRUE(parameters.front().second.equal(before));
      const auto batches = made_up_batches(2, 2);
      EXPECT_FALSE(train_update(parts, batches, {}, 0.1).skipped);
      const auto fresh = test::formula_model(config, kVocabulary, kVocabulary);
      Adam other(named_parameters(*fresh), {});
      train_update({.model = *fresh, .optimizer = other, .objective = *objective}, batches, {}, 0.1);
      const bool same = parameters.front().second.equal(named_parameters(*fresh).front().second);
      EXPECT_TRUE(same || !in_order);
    });
  }
}

TEST_F(GradientBucketsTest, WithoutOrderRoundsAreGathered) {
  ThreadProcesses processes(2, false);
  processes.run([](ProcessGroup& group) {
    const auto weight = torch::ones({2}, torch::requires_grad());
    GradientBuckets buckets({{"weight", weight}}, group);
    for (int64_t update = 0; update < 2; ++update) {
      weight.mutable_grad().reset();
      for (const int64_t batch : {group.rank(), 2 + group.rank(), 4 + group.rank()}) {  // 0 .. 4, gradients 1, 10, ...
        buckets.begin_round(batch < 4 ? 2 : 1, batch >= 4);
        if (batch < 5) (weight * std::pow(10.0, static_cast<double>(batch))).sum().backward();
        buckets.end_round();
      }
      buckets.finish();
      EXPECT_TRUE(weight.grad().equal(torch::full({2}, 11111.0))) << weight.grad();
    }
  });
  EXPECT_EQ(processes.adds, 2) << "one an update";
}

TEST_F(GradientBucketsTest, AParameterWithoutGradientHasNone) {
  ThreadProcesses(2).run([](ProcessGroup& group) {
    const auto used = torch::ones({3}, torch::requires_grad()), unused = torch::ones({2}, torch::requires_grad()),
               sometimes = torch::ones({1}, torch::requires_grad()), frozen = torch::ones({1});
    GradientBuckets buckets({{"used", used}, {"unused", unused}, {"sometimes", sometimes}, {"frozen", frozen}}, group);
    buckets.begin_round(2, true);
    auto loss = (used * static_cast<double>(group.rank() + 1)).sum();
    if (group.rank() == 1) loss = loss + sometimes.sum();
    loss.backward();
    buckets.end_round();
    buckets.finish();
    EXPECT_TRUE(used.grad().equal(torch::full({3}, 3.0)));
    EXPECT_TRUE(sometimes.grad().equal(torch::ones({1})));
    EXPECT_FALSE(unused.grad().defined());
    EXPECT_FALSE(frozen.grad().defined());
  });
}

TEST_F(GradientBucketsTest, LeavesParametersAsTheyWere) {
  const auto weight = torch::ones({3}, torch::requires_grad());
  ThreadProcesses(1).run([&](ProcessGroup& group) { const GradientBuckets buckets({{"weight", weight}}, group); });
  weight.sum().backward();
  EXPECT_TRUE(weight.grad().defined()) << "no hook takes it any more";
}

}  // namespace
}  // namespace nmt::gradient_buckets_test
