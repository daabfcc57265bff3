// Whole updates by the twins of the kernels: beside autograd without dropout, and with dropout beside differences of
// the loss.
#include "training/packed/packed_transformer.h"

#include <gtest/gtest.h>

#include <vector>

#include "models/loss.h"
#include "models/model_directory.h"
#include "training/loop/objectives.h"
#include "training/packed/packed_support.h"
#include "training/packed/plain_operations.h"

namespace nmt::packed_transformer_test {
namespace {

using test::kPackedVocabulary;
using test::packed_batch;
using test::packed_config;
using test::packed_model;

struct Packed {
  Packed(const Config& config, at::ScalarType type)
      : config(config),
        model(packed_model(config.model)),
        weights((model->to(type), named_parameters(*model)), output_table(config.model), type),
        transformer(this->config.model, options_of(config.training), kPackedVocabulary, weights, operations) {}

  static PackedTransformer::Options options_of(const TrainingConfig& training) {
    PackedTransformer::Options options{.smoothing = smoothing_of(training).rate_over_all(kPackedVocabulary)};
    if (training.objective == ObjectiveKind::kRDrop) options.pair = RDrop::pair_loss(training.rdrop_alpha);
    return options;
  }
  torch::Tensor add_gradients(const Batch& batch, double scale) {
    auto read = to_tensors(batch, torch::kCPU);
    const bool pairs = config.training.objective == ObjectiveKind::kRDrop;
    if (pairs) read = doubled(read);
    return transformer.add_gradients(
        plan_batch(read, {.learned_positions = true, .pairs = pairs, .key = 12345, .scale = scale}, torch::kCPU));
  }

  Config config;
  std::shared_ptr<TranslationModel> model;
  FlatWeights weights;
  PlainOperations operations;
  PackedTransformer transformer;
};

// Sentences of both sizes of tiles, and words that stand there more often than a piece has rows.
const std::vector<std::pair<int64_t, int64_t>> kLengths{{5, 3}, {20, 34}, {0, 6}, {71, 2}, {9, 66}};

// Twice: gradients are added up.
void expect_same_as_autograd(const std::string& model_options, const std::string& training_options) {
  const auto config = packed_config(model_options, training_options);
  const auto batch = packed_batch(kLengths);
  const double scale = 1.0 / static_cast<double>(batch.target_tokens);
  Packed packed(config, torch::kFloat32);
  const auto model = packed_model(config.model);
  const auto objective = make_objective(config);
  torch::Tensor sums, expected_sums;
  for (int time = 0; time < 2; ++time) {
    sums = packed.add_gradients(batch, scale);
    ForwardContext context(1, 1, 0);
    const auto losses = objective->loss(*model, to_tensors(batch, torch::kCPU), context);
    (losses.loss * scale).backward();
    expected_sums = loss_row(losses);
  }
  model->finish_gradients();
  packed.model->finish_gradients();
  EXPECT_LT((sums - expected_sums).norm().item<double>(), 2e-6 * expected_sums.norm().item<double>());
  EXPECT_EQ(sums[2].item<double>(), expected_sums[2].item<double>());
  double total = 0;
  for (const auto& item : named_parameters(*model)) total += item.second.grad().norm().item<double>();
  const auto parameters = named_parameters(*packed.model);
  for (size_t i = 0; i < parameters.size(); ++i) {
    const auto& [name, parameter] = named_parameters(*model)[i];
    const auto difference = (parameters[i].second.grad() - parameter.grad()).norm().item<double>();
    // That of keys' biases is zero but for rounding.
    EXPECT_LT(difference, 1e-5 * (parameter.grad().norm().item<double>() + 1e-3 * total)) << name;
  }
}

TEST(PackedTransformer, PostNormIsThatOfAutograd) { expect_same_as_autograd("", "smoothing: 0.1"); }
TEST(PackedTransformer, PreNormIsThatOfAutograd) {
  expect_same_as_autograd("norm: pre, encoder_blocks: 2, norm_form: rms", "smoothing: 0.1, smoothing_form: others");
}
TEST(PackedTransformer, SeveralHeadsAndBlocksAreThoseOfAutograd) {
  expect_same_as_autograd("d_model: 128, num_heads: 2, num_blocks: 2, norm: pre, output_bias: true", "smoothing: 0");
}
TEST(PackedTransformer, RotaryPositionsAreThoseOfAutograd) {
  expect_same_as_autograd("positions: rotary, tie_embeddings: target", "smoothing: 0.1");
}
TEST(PackedTransformer, LearnedPositionsAreThoseOfAutograd) {
  expect_same_as_autograd("positions: learned, max_positions: 80, tie_embeddings: none, output_bias: true",
                          "smoothing: 0.1");
}
TEST(PackedTransformer, APaddingRowThatIsTrainedAndNoBiasesAreThoseOfAutograd) {
  expect_same_as_autograd("positions: none, zero_padding_embedding: false, attention_bias: false, norm: pre",
                          "smoothing: 0.1");
}
TEST(PackedTransformer, HeadsOf128AndTwoPredictionsAreThoseOfAutograd) {
  expect_same_as_autograd("d_model: 128, dropout_rate: 1e-12", "objective: rdrop, rdrop_alpha: 3");
}

// In float64, for a few parameters at a time: the loss changes by the gradient along any direction, with the same
// dropout.
void expect_gradients_of_the_loss(const std::string& model_options, const std::string& training_options) {
  constexpr double kStep = 1e-6;
  constexpr size_t kAtATime = 5;
  Packed packed(packed_config(model_options + ", input_dropout_rate: 0.1, attention_dropout_rate: 0.3, "
                                              "residual_dropout_rate: 0.2, ffn_dropout_rate: 0.4",
                              training_options),
                torch::kFloat64);
  const auto batch = packed_batch({{3, 4}, {17, 2}});
  const auto loss = [&] {
    packed.weights.copy_weights();
    return packed.add_gradients(batch, 1)[0].item<double>();
  };
  const double start = loss();
  const torch::NoGradGuard no_grad;
  const auto parameters = named_parameters(*packed.model);
  std::vector<torch::Tensor> directions;
  std::vector<double> expected;
  for (const auto& [name, parameter] : parameters) {
    directions.push_back((torch::arange(parameter.numel(), torch::kFloat64) * 0.7 + 1).sin().view(parameter.sizes()));
    if (name.ends_with("embedding")) directions.back()[0].zero_();  // padding
    expected.push_back((parameter.grad() * directions.back()).sum().item<double>());
  }
  EXPECT_EQ(loss(), start);  // the same key
  for (size_t first = 0; first < parameters.size(); first += kAtATime) {
    const size_t end = std::min(first + kAtATime, parameters.size());
    const auto loss_at = [&](double step) {
      for (size_t i = first; i < end; ++i) parameters[i].second.detach().add_(directions[i], step);
      const double changed = loss();
      for (size_t i = first; i < end; ++i) parameters[i].second.detach().sub_(directions[i], step);
      return changed;
    };
    double sum = 0;
    for (size_t i = first; i < end; ++i) sum += expected[i];
    EXPECT_NEAR((loss_at(kStep) - loss_at(-kStep)) / (2 * kStep), sum, 1e-6 * (std::abs(sum) + std::abs(start)))
        << parameters[first].first << " and others";
  }
}

TEST(PackedTransformer, WithDropoutGradientsAreThoseOfTheLoss) {
  expect_gradients_of_the_loss("norm: pre, positions: rotary", "smoothing: 0.1");
  expect_gradients_of_the_loss("norm: post, positions: learned, tie_embeddings: none, output_bias: true",
                               "objective: rdrop");
}

TEST(PackedTransformer, EachKindOfDropoutChangesTheLoss) {
  const auto batch = packed_batch({{3, 4}, {5, 9}});
  const auto loss_with = [&](const std::string& options) {
    return Packed(packed_config(options, "smoothing: 0.1"), torch::kFloat32).add_gradients(batch, 1)[0].item<double>();
  };
  const double without = loss_with("");
  for (const char* kind : {"input", "attention", "residual", "ffn"})
    EXPECT_GT(std::abs(loss_with(std::string(kind) + "_dropout_rate: 0.5") - without), 1e-3) << kind;
}

}  // namespace
}  // namespace nmt::packed_transformer_test
