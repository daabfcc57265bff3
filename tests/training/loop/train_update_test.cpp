#include "training/loop/train_update.h"

#include <ATen/Parallel.h>
#include <gtest/gtest.h>

#include <functional>
#include <limits>
#include <new>

#include "base/error.h"
#include "base/random.h"
#include "models/formula_weights.h"
#include "models/loss.h"
#include "models/model_directory.h"
#include "models/tiny_batch.h"
#include "nn/device/device.h"
#include "support.h"
#include "tensor_support.h"
#include "training/limited_model.h"
#include "training/loop/objectives.h"
#include "training/optimizers/optimizer.h"
#include "training/trained_update.h"

namespace nmt::train_update_test {
namespace {

using test::batch_of;
using test::expect_close;
using test::formula_model;
using test::LimitedModel;
using test::message_of;
using test::Pair;
using test::update;

constexpr int64_t kVocabulary = 24;

// Pairs of 1 to 9 words; the target is no copy: words change and their order turns round.
std::vector<Pair> made_up_pairs(int64_t count, int64_t vocabulary = kVocabulary, uint64_t longest = 9) {
  std::vector<Pair> pairs;
  for (int64_t i = 0; i < count; ++i) {
    CounterRandom random({5, static_cast<uint64_t>(i)});
    Pair pair;
    for (uint64_t n = 0, words = 1 + random.below(longest); n < words; ++n) {
      pair.first.push_back(4 + static_cast<int64_t>(random.below(vocabulary - 4)));
      if (random.below(4) > 0) pair.second.insert(pair.second.begin(), 4 + pair.first.back() * 7 % (vocabulary - 4));
    }
    pairs.push_back(pair);
  }
  return pairs;
}

ModelConfig small_model() {
  return test::model_config("d_model: 16, d_ff: 32, num_blocks: 1, num_heads: 2, dropout_rate: 0");
}
const TrainingConfig kTraining{.smoothing = 0.1};

std::vector<torch::Tensor> copies(const NamedTensors& tensors) {
  std::vector<torch::Tensor> made;
  for (const auto& item : tensors) made.push_back(item.second.detach().clone());
  return made;
}

std::vector<torch::Tensor> gradients_of(const TranslationModel& model) {
  std::vector<torch::Tensor> found;
  for (const auto& item : named_parameters(model)) found.push_back(item.second.grad().clone());
  return found;
}

void expect_equal(const std::vector<torch::Tensor>& a, const std::vector<torch::Tensor>& b, const char* what = "") {
  ASSERT_EQ(a.size(), b.size());
  for (size_t i = 0; i < a.size(); ++i) EXPECT_TRUE(a[i].equal(b[i])) << what << " parameter " << i;
}

// Gradients are of size one: sums of a hundred products in float32, in another order.
void expect_same_gradients(const std::vector<torch::Tensor>& a, const std::vector<torch::Tensor>& b) {
  ASSERT_EQ(a.size(), b.size());
  for (size_t i = 0; i < a.size(); ++i) expect_close(a[i], b[i], 2e-6, "gradient of parameter " + std::to_string(i));
}

/// Gradients after one update over `batches`, with its sums.
std::pair<std::vector<torch::Tensor>, UpdateStats> gradients_over(std::vector<Batch> batches, torch::Device device) {
  const auto model = formula_model(small_model(), kVocabulary, kVocabulary, device);
  Adam adam(named_parameters(*model), {});
  const auto stats = update({*model, adam, device}, std::move(batches), kTraining, 0.001);
  return {gradients_of(*model), stats};
}

// The most likely next piece, again and again.
std::vector<int64_t> greedy(TranslationModel& model, const std::vector<int64_t>& source, torch::Device device) {
  const torch::NoGradGuard no_grad;
  const auto batch = to_tensors(batch_of({{source, {}}}), device);
  const auto state = model.start(batch.source, batch.source_lengths);
  std::vector<int64_t> found;
  for (int64_t token = SpecialIds::kBegin; found.size() < 20;) {
    token = model.step(*state, torch::tensor({token}, torch::kInt64).to(device)).argmax(-1).item<int64_t>();
    if (token == SpecialIds::kEnd) break;
    found.push_back(token);
  }
  return found;
}

TEST(TrainUpdate, LearnsTwentyPairsToZeroErrors) {
  const auto pairs = made_up_pairs(20);
  const std::vector<Batch> batches = {batch_of({pairs.begin(), pairs.begin() + 10}),
                                      batch_of({pairs.begin() + 10, pairs.end()})};
  for (const auto device : test::devices()) {
    for (const char* norm : {"post", "pre"}) {
      const auto config = test::model_config(
          std::string("d_model: 32, d_ff: 64, num_blocks: 2, num_heads: 4, dropout_rate: 0, norm: ") + norm);
      const auto model = make_model(config, kVocabulary, kVocabulary);
      initialise(*model, config, 1);
      move_module(*model, device);
      Adam adam(named_parameters(*model), {.beta2 = 0.98});
      for (int64_t number = 1; number <= 600; ++number) {
        const double rate = 0.003 * std::min({1.0, static_cast<double>(number) / 30, (601.0 - number) / 300});
        update({*model, adam, device}, {batches[number % 2]}, kTraining, rate, {1, number});
      }
      const auto stats = evaluate(*model, batches, 0.1, device);
      EXPECT_EQ(stats.correct, stats.target_tokens) << norm << " on " << device;
      int wrong = 0;
      for (const auto& [source, target] : pairs) wrong += greedy(*model, source, device) != target;
      EXPECT_EQ(wrong, 0) << norm << " on " << device;
    }
  }
}

TEST(TrainUpdate, AccumulatesSmallBatchesToOneLarge) {
  const auto pairs = made_up_pairs(7);
  for (const auto device : test::devices()) {
    const auto [whole, sums] = gradients_over({batch_of(pairs)}, device);
    const auto [parts, added] = gradients_over(
        {batch_of({pairs.begin(), pairs.begin() + 2}), batch_of({pairs.begin() + 2, pairs.end()})}, device);
    expect_same_gradients(parts, whole);
    EXPECT_NEAR(added.loss, sums.loss, 1e-5 * sums.loss);
    EXPECT_NEAR(added.label_loss, sums.label_loss, 1e-5 * sums.label_loss);
    EXPECT_NEAR(added.gradient_norm, sums.gradient_norm, 1e-5 * sums.gradient_norm);
    EXPECT_EQ(added.correct, sums.correct);
    EXPECT_EQ(added.source_tokens, sums.source_tokens);
    EXPECT_EQ(added.target_tokens, sums.target_tokens);
  }
}

TEST(TrainUpdate, CountsRealAndPaddedTokens) {
  const auto stats =
      gradients_over({batch_of({{{4, 5}, {6}}, {{7}, {8, 9, 10}}}), batch_of({{{4}, {}}})}, torch::kCPU).second;
  EXPECT_EQ(stats.source_tokens, 3 + 2 + 2);
  EXPECT_EQ(stats.target_tokens, 2 + 4 + 1);
  EXPECT_EQ(stats.padded_tokens, 2 * (3 + 4) + (2 + 1));
  EXPECT_FALSE(stats.split);
  EXPECT_FALSE(stats.skipped);
}

TEST(TrainUpdate, ClipsTheGradientOfTheMean) {
  const auto model = formula_model(small_model(), kVocabulary, kVocabulary);
  Adam adam(named_parameters(*model), {});
  auto config = kTraining;
  const auto norm_after = [&](double limit) {
    config.clip_norm = limit;
    const auto stats = update({*model, adam}, {batch_of(made_up_pairs(4))}, config, 0);
    double sum = 0;
    for (const auto& gradient : gradients_of(*model)) sum += gradient.square().sum().item<double>();
    return std::pair(stats.gradient_norm, std::sqrt(sum));
  };
  const auto [norm, unclipped] = norm_after(0);
  EXPECT_NEAR(unclipped, norm, 1e-5 * norm);
  EXPECT_NEAR(norm_after(norm / 2).first, norm, 1e-5 * norm) << "the norm before clipping is reported";
  EXPECT_NEAR(norm_after(norm / 2).second, norm / 2, 1e-5 * norm);
}

TEST(TrainUpdate, SkipsWhatIsNotFinite) {
  for (const auto device : test::devices()) {
    for (const float bad : {std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity()}) {
      const auto model = formula_model(small_model(), kVocabulary, kVocabulary, device);
      const auto parameters = named_parameters(*model);
      Adam adam(parameters, {});
      const std::vector<Batch> batch = {batch_of(made_up_pairs(4))};
      {
        const torch::NoGradGuard no_grad;
        model->named_parameters()["encoder_0.feed_forward.outer.bias"][3] = bad;
      }
      const auto before = copies(parameters);
      const auto stats = update({*model, adam, device}, batch, kTraining, 0.01);
      EXPECT_TRUE(stats.skipped) << bad;
      for (size_t i = 0; i < parameters.size(); ++i)
        EXPECT_TRUE(parameters[i].second.nan_to_num().equal(before[i].nan_to_num())) << parameters[i].first;
      for (const auto& [name, state] : adam.state()) EXPECT_EQ(state.abs().sum().item<double>(), 0) << name;
      {
        const torch::NoGradGuard no_grad;
        model->named_parameters()["encoder_0.feed_forward.outer.bias"][3] = 0;
      }
      EXPECT_FALSE(update({*model, adam, device}, batch, kTraining, 0.01).skipped) << "repaired, it continues";
      EXPECT_FALSE(parameters[0].second.equal(before[0]));
    }
  }
}

TEST(TrainUpdate, ComputesSoManyTokensAtOnce) {
  const auto batch = batch_of(made_up_pairs(10)), small = batch_of(made_up_pairs(2));
  const auto [whole, sums] = gradients_over({batch, small}, torch::kCPU);
  LimitedModel model(formula_model(small_model(), kVocabulary, kVocabulary), 10, [] {});
  Adam adam(named_parameters(model), {});
  const int64_t four = 4 * std::max(batch.source_width, batch.target_width);
  const auto stats =
      update({.model = model, .optimizer = adam, .tokens_at_once = four}, {batch, small}, kTraining, 0.001);
  EXPECT_EQ(model.calls, (std::vector<int64_t>{4, 4, 2, 2}));
  EXPECT_FALSE(stats.split);
  expect_same_gradients(gradients_of(model), whole);
  EXPECT_NEAR(stats.loss, sums.loss, 1e-5 * sums.loss);
  EXPECT_EQ(stats.target_tokens, sums.target_tokens);
  EXPECT_EQ(stats.padded_tokens, sums.padded_tokens);
}

TEST(TrainUpdate, CutsBatchesOfTransformersOnTheCpuAlone) {
  const int before = at::get_num_threads();
  at::set_num_threads(2);
  EXPECT_EQ(tokens_at_once({}, torch::kCPU), 2048);
  EXPECT_EQ(tokens_at_once({}, torch::kCUDA), 0);
  EXPECT_EQ(tokens_at_once(test::model_config("architecture: recurrent"), torch::kCPU), 0);
  at::set_num_threads(16);
  EXPECT_EQ(tokens_at_once({}, torch::kCPU), 4096);
  at::set_num_threads(before);
}

TEST(TrainUpdate, SplitsABatchThatDoesNotFitIntoMemory) {
  const auto pairs = made_up_pairs(10);
  const std::vector<Batch> batches = {batch_of({pairs.begin(), pairs.begin() + 3}),
                                      batch_of({pairs.begin() + 3, pairs.end()})};
  const std::function<void()> failures[] = {
      [] { throw std::bad_alloc(); },
      [] {
        throw c10::OutOfMemoryError({"", "", 0}, "CUDA out of memory");
      },
      [] { TORCH_CHECK(false, "DefaultCPUAllocator: can't allocate memory: you tried to allocate 1 bytes"); },
  };
  const auto [whole, sums] = gradients_over(batches, torch::kCPU);
  for (const auto& fail : failures) {
    LimitedModel model(formula_model(small_model(), kVocabulary, kVocabulary), 3, fail);
    Adam adam(named_parameters(model), {});
    const auto stats = update({model, adam}, batches, kTraining, 0.001);
    EXPECT_TRUE(stats.split);
    // 7 do not fit: 3 and 4; 4 do not: 2 and 2; each time from the start.
    EXPECT_EQ(model.calls, (std::vector<int64_t>{3, 7, 3, 3, 4, 3, 3, 2, 2}));
    expect_same_gradients(gradients_of(model), whole);
    EXPECT_NEAR(stats.loss, sums.loss, 1e-5 * sums.loss);
    EXPECT_EQ(stats.target_tokens, sums.target_tokens);
    EXPECT_EQ(stats.source_tokens, sums.source_tokens);
  }
}

TEST(TrainUpdate, GivesUpOnAPairThatDoesNotFit) {
  LimitedModel model(formula_model(small_model(), kVocabulary, kVocabulary), 0, [] { throw std::bad_alloc(); });
  Adam adam(named_parameters(model), {});
  EXPECT_EQ(message_of<MachineError>([&] {
              update({model, adam}, {batch_of(made_up_pairs(4))}, kTraining, 0.1);
            }),
            "out of memory on a single sentence pair; lower data.maxlen1, data.maxlen2 or the model's size");
}

TEST(TrainUpdate, PassesOtherErrorsOn) {
  LimitedModel model(formula_model(small_model(), kVocabulary, kVocabulary), 0,
                     [] { throw Error("model.max_positions: too long"); });
  Adam adam(named_parameters(model), {});
  EXPECT_EQ(message_of<Error>([&] {
              update({model, adam}, {batch_of(made_up_pairs(4))}, kTraining, 0.1);
            }),
            "model.max_positions: too long");
  EXPECT_EQ(model.calls.size(), 1);
}

TEST(Evaluate, GivesTheSumsOfTrainingWithoutDropout) {
  const auto pairs = made_up_pairs(6);
  auto config = small_model();
  config.dropout_rate = 0.5;
  for (const auto device : test::devices()) {
    const auto expected = gradients_over({batch_of(pairs)}, device).second;  // a model without dropout
    const auto model = formula_model(config, kVocabulary, kVocabulary, device);
    const std::vector<Batch> parts = {batch_of({pairs.begin(), pairs.begin() + 4}),
                                      batch_of({pairs.begin() + 4, pairs.end()})};
    const auto found = evaluate(*model, parts, 0.1, device);
    EXPECT_NEAR(found.loss, expected.loss, 1e-5 * expected.loss);
    EXPECT_NEAR(found.label_loss, expected.label_loss, 1e-5 * expected.label_loss);
    EXPECT_EQ(found.correct, expected.correct);
    EXPECT_EQ(found.target_tokens, expected.target_tokens);
    for (const auto& item : named_parameters(*model)) EXPECT_FALSE(item.second.grad().defined()) << item.first;
  }
}

/// Weights after three updates with dropout everywhere, big enough for every parallel loop to be shared out.
std::vector<torch::Tensor> trained(uint64_t seed, int threads, at::ScalarType type = torch::kFloat32) {
  const int before = at::get_num_threads();
  at::set_num_threads(threads);
  const auto config = test::model_config("d_model: 64, d_ff: 256, num_blocks: 2, num_heads: 4, dropout_rate: 0.2");
  const auto model = make_model(config, 700, 700);
  initialise(*model, config, 1);
  model->set_compute_type(type);
  Adam adam(named_parameters(*model), {});
  auto training = kTraining;
  training.clip_norm = 1;
  const auto pairs = made_up_pairs(96, 700, 40);
  for (int64_t number = 1; number <= 3; ++number) {
    const std::vector<Pair> part(pairs.begin() + 32 * (number - 1), pairs.begin() + 32 * number);
    update({*model, adam}, {batch_of(part)}, training, 0.01, {seed, number});
  }
  at::set_num_threads(before);
  return copies(named_parameters(*model));
}

TEST(TrainUpdate, IsAFunctionOfTheKey) {
  expect_equal(trained(1, 2), trained(1, 2));
  EXPECT_FALSE(trained(1, 2)[0].equal(trained(2, 2)[0]));
}

}  // namespace
}  // namespace nmt::train_update_test
