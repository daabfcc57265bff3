#include <gtest/gtest.h>

#include "base/error.h"
#include "models/formula_weights.h"
#include "models/loss.h"
#include "models/model_directory.h"
#include "models/tiny_batch.h"
#include "nn/layers/feed_forward.h"
#include "support.h"
#include "tensor_support.h"
#include "training/loop/objectives.h"

namespace nmt::objective_test {
namespace {

using test::batch_of;
using test::expect_close;
using test::formula_model;

constexpr int64_t kVocabulary = 24;

Batch some_pairs() { return batch_of({{{4, 5, 6, 7}, {8, 9}}, {{10, 11}, {12, 13, 14, 15}}, {{16}, {17}}}); }

ModelConfig model_with_dropout(double rate) {
  return test::model_config("d_model: 16, d_ff: 32, num_blocks: 1, num_heads: 2, dropout_rate: " +
                            std::to_string(rate));
}

TrainingConfig config_of(const char* name) {
  TrainingConfig config;
  config.objective = name;
  config.smoothing = 0.1;
  config.rdrop_alpha = 5;
  config.simcut_alpha = 3;
  config.simcut_rate = 0.6;
  return config;
}

ForwardContext pass_of_training() { return ForwardContext(3, 1, 0); }

struct Outcome {
  double loss;
  std::vector<torch::Tensor> gradients;
};

Outcome outcome_of(TranslationModel& model, const torch::Tensor& loss) {
  Outcome found{loss.item<double>(), {}};
  for (auto& [name, parameter] : named_parameters(model)) parameter.mutable_grad().reset();
  loss.backward();
  for (const auto& [name, parameter] : named_parameters(model)) found.gradients.push_back(parameter.grad().clone());
  return found;
}

void expect_same(const Outcome& found, const Outcome& expected) {
  EXPECT_NEAR(found.loss, expected.loss, 1e-5 * expected.loss);
  for (size_t i = 0; i < expected.gradients.size(); ++i)
    expect_close(found.gradients[i], expected.gradients[i],
                 2e-5 * std::max(1.0, expected.gradients[i].abs().max().item<double>()), std::to_string(i));
}

// Log-probabilities [2, tokens, vocabulary] of two copies of the batch in one forward pass, and their labels [tokens].
std::pair<torch::Tensor, torch::Tensor> both_copies(TranslationModel& model, const TensorBatch& twice,
                                                    ForwardContext& pass) {
  const auto hidden = model.forward(twice, pass);  // [2 * batch, target, model]
  const int64_t half = hidden.size(0) / 2;
  const auto logs = torch::log_softmax(model.logits(hidden), -1).unflatten(0, {2, half}).flatten(1, 2);
  const auto labels = twice.target_out.narrow(0, 0, half).flatten(), real = labels.nonzero().squeeze(-1);
  return {logs.index_select(1, real), labels.index_select(0, real)};
}

TensorBatch twice(const TensorBatch& batch) {
  const auto cat = [](const torch::Tensor& x) { return torch::cat({x, x}); };
  return {cat(batch.source), cat(batch.source_lengths), cat(batch.target_in), cat(batch.target_out),
          cat(batch.target_lengths)};
}

torch::Tensor smoothed(const torch::Tensor& logs, const torch::Tensor& labels) {
  return -(0.9 * logs.gather(-1, labels.unsqueeze(-1)).sum() + 0.1 * logs.mean(-1).sum());
}
torch::Tensor divergence(const torch::Tensor& p, const torch::Tensor& q) { return (p.exp() * (p - q)).sum(); }

// Liang et al. 2021, equations 2 to 4, divided by two: cross-entropies of both copies, alpha times the mean of both
// divergences. The masks of the two copies differ, since the doubled batch is one.
TEST(TrainingLoss, OfRDropFollowsThePaper) {
  const auto batch = to_tensors(some_pairs(), torch::kCPU);
  const auto model = formula_model(model_with_dropout(0.3), kVocabulary, kVocabulary);
  auto pass = pass_of_training(), again = pass_of_training();
  const auto [logs, labels] = both_copies(*model, twice(batch), pass);
  const auto p = logs[0], q = logs[1];
  EXPECT_GT(divergence(p, q).item<double>(), 0.01) << "two masks";
  const auto expected =
      (smoothed(p, labels) + smoothed(q, labels) + 5 * 0.5 * (divergence(p, q) + divergence(q, p))) / 2;
  const auto expected_outcome = outcome_of(*model, expected);
  const auto sums = make_objective(config_of("rdrop"))->loss(*model, batch, again);
  expect_same(outcome_of(*model, sums.loss), expected_outcome);
  EXPECT_NEAR(sums.label_loss.item<double>(), -p.gather(-1, labels.unsqueeze(-1)).sum().item<double>(), 1e-4);
}

// Gao et al. 2022, equation 6: the second copy has zero embeddings at some tokens of both sides.
TEST(TrainingLoss, OfSimCutFollowsThePaper) {
  const auto batch = to_tensors(some_pairs(), torch::kCPU);
  const auto model = formula_model(model_with_dropout(0.2), kVocabulary, kVocabulary);
  auto pass = pass_of_training(), again = pass_of_training();
  auto doubled = twice(batch);
  const int64_t half = batch.source.size(0);
  for (auto* ids : {&doubled.source, &doubled.target_in})
    ids->narrow(0, half, half).copy_(drop_tokens(ids->narrow(0, half, half), 0.6, SpecialIds::kPad, pass));
  EXPECT_FALSE(doubled.source.narrow(0, half, half).equal(batch.source));
  EXPECT_FALSE(doubled.target_in.narrow(0, half, half).equal(batch.target_in));
  const auto [logs, labels] = both_copies(*model, doubled, pass);
  const auto expected = smoothed(logs[0], labels) + 3 * divergence(logs[0], logs[1]);
  const auto expected_outcome = outcome_of(*model, expected);
  expect_same(outcome_of(*model, make_objective(config_of("simcut"))->loss(*model, batch, again).loss),
              expected_outcome);
  EXPECT_TRUE(batch.source.equal(to_tensors(some_pairs(), torch::kCPU).source)) << "the batch stays as it was";
}

// Without dropout the copies are equal: the plain loss and its gradient.
TEST(TrainingLoss, OfRDropWithoutDropoutIsThePlainOne) {
  const auto batch = to_tensors(some_pairs(), torch::kCPU);
  const auto model = formula_model(model_with_dropout(0), kVocabulary, kVocabulary);
  auto pass = pass_of_training();
  const auto plain = outcome_of(*model, make_objective(config_of("cross_entropy"))->loss(*model, batch, pass).loss);
  expect_same(outcome_of(*model, make_objective(config_of("rdrop"))->loss(*model, batch, pass).loss), plain);
}

// Garg et al. 2019, sec. 3.2, with equal shares for the links of a piece.
TEST(TrainingLoss, OfGuidedAlignmentAddsTheLinksOfOneHead) {
  auto config = Config();
  config.model = model_with_dropout(0);
  config.training = config_of("cross_entropy");
  config.training.guided_alignment = 0.5;
  config.decoding.alignment_head = 2;
  auto pairs = some_pairs();
  pairs.links = {{0, 0, 1}, {0, 0, 0}, {1, 1, 2}};
  const auto batch = to_tensors(pairs, torch::kCPU);
  const auto model = formula_model(model_with_dropout(0), kVocabulary, kVocabulary);
  auto pass = pass_of_training();
  const auto plain = make_objective(config.training)->loss(*model, batch, pass);
  for (const auto token : {AlignmentToken::kOutput, AlignmentToken::kInput}) {
    config.decoding.alignment_token = token;
    const auto options = GuidedAlignment::options_of(config);
    torch::Tensor head;
    for (const auto& map : model->attention_maps(batch))
      if (map.name == options.layer) head = map.weights.select(1, 1);
    ASSERT_TRUE(head.defined()) << options.layer;
    const int64_t later = token == AlignmentToken::kInput ? 1 : 0;
    const auto log = [&](int64_t row, int64_t target, int64_t source) {
      return std::log(head[row][target + later][source].item<double>());
    };
    const double expected = -((log(0, 0, 1) + log(0, 0, 0)) / 2 + log(1, 1, 2));
    const auto guided = make_objective(config)->loss(*model, batch, pass);
    EXPECT_NEAR(guided.loss.item<double>() - plain.loss.item<double>(), 0.5 * expected, 1e-3);
    EXPECT_NEAR(guided.label_loss.item<double>(), plain.label_loss.item<double>(), 1e-3);
    model->zero_grad();
    guided.loss.backward();  // through the head's queries and keys
    EXPECT_TRUE(at::isfinite(model->output_weight().grad()).all().item<bool>());
  }
  const auto unaligned = to_tensors(some_pairs(), torch::kCPU);
  EXPECT_EQ(make_objective(config)->loss(*model, unaligned, pass).loss.item<double>(),
            make_objective(config.training)->loss(*model, unaligned, pass).loss.item<double>());
}

TEST(TrainingLoss, DropsWordsOnTheWayInOnly) {
  const auto batch = to_tensors(some_pairs(), torch::kCPU);
  const auto model = formula_model(model_with_dropout(0), kVocabulary, kVocabulary);
  for (const char* form : {"unknown", "zero"}) {
    auto config = config_of("cross_entropy");
    config.word_dropout1 = 0.5;
    config.word_dropout2 = 0.3;
    config.word_dropout_form = form;
    auto pass = pass_of_training(), again = pass_of_training();
    auto dropped = batch;
    const int64_t by = form == std::string("zero") ? 0 : 1;
    dropped.source = drop_tokens(batch.source, 0.5, by, pass);
    dropped.target_in = drop_tokens(batch.target_in, 0.3, by, pass);
    EXPECT_FALSE(dropped.target_in.equal(batch.target_in));
    ForwardContext none;
    const auto expected = smoothed_cross_entropy(*model, dropped, none, smoothing_of(config)).loss.item<double>();
    EXPECT_NEAR(make_objective(config)->loss(*model, batch, again).loss.item<double>(), expected, 1e-4);
  }
}

// In bfloat16 the divergence is one of nearly equal numbers: it must stay near that of float32.
TEST(TrainingLoss, InBfloat16StaysNearFloat) {
  const auto batch = to_tensors(some_pairs(), torch::kCPU);
  for (const char* name : {"rdrop", "simcut"}) {
    const auto model = formula_model(model_with_dropout(0.2), kVocabulary, kVocabulary);
    auto pass = pass_of_training(), again = pass_of_training();
    const double exact = make_objective(config_of(name))->loss(*model, batch, pass).loss.item<double>();
    model->set_compute_type(torch::kBFloat16);
    EXPECT_NEAR(make_objective(config_of(name))->loss(*model, batch, again).loss.item<double>() / exact, 1, 0.02)
        << name;
  }
}

TEST(RunModel, RecordsAttentionWithItsGradientWhereAskedFor) {
  const auto batch = to_tensors(some_pairs(), torch::kCPU);
  const auto model = formula_model(model_with_dropout(0), kVocabulary, kVocabulary);
  auto context = pass_of_training(), again = pass_of_training();
  const auto plain = run_model(*model, batch, context);
  EXPECT_TRUE(plain.attention.empty());
  const auto recorded = run_model(*model, batch, again, AttentionWeights::kRecorded);
  EXPECT_FALSE(again.records_attention("")) << "only of this run";
  const auto real = batch.target_out.flatten().nonzero().squeeze(-1);
  expect_close(recorded.hidden.flatten(0, 1).index_select(0, real), plain.hidden.flatten(0, 1).index_select(0, real),
               1e-5);
  ASSERT_EQ(recorded.attention.size(), 3u);  // encoder, decoder, cross
  const auto& cross = recorded.attention.back();
  EXPECT_TRUE(cross.is_cross());
  cross.weights.square().sum().backward();
  double sum = 0;
  for (const auto& item : named_parameters(*model))
    if (item.first.find("query") != std::string::npos && item.second.grad().defined())
      sum += item.second.grad().abs().sum().item<double>();
  EXPECT_GT(sum, 0);
}

/// A layer with a loss of its own: its weight times two.
class Balance final : public torch::nn::Module, public AuxiliaryLoss {
 public:
  Balance() { weight = register_parameter("weight", torch::full({}, 0.25)); }
  torch::Tensor take_auxiliary_loss() override { return 2 * weight; }
  torch::Tensor weight;
};

TEST(TrainingLoss, HasTheAuxiliaryLossesOfTheModelForEachTargetToken) {
  const auto batch = to_tensors(some_pairs(), torch::kCPU);  // 3 + 5 + 2 target tokens
  for (const char* name : {"cross_entropy", "rdrop", "simcut"}) {
    const auto model = formula_model(model_with_dropout(0), kVocabulary, kVocabulary);
    auto context = pass_of_training(), again = pass_of_training();
    const auto plain = make_objective(config_of(name))->loss(*model, batch, context);
    const auto balance = model->register_module("balance", std::make_shared<Balance>());
    const auto sums = make_objective(config_of(name))->loss(*model, batch, again);
    EXPECT_NEAR((sums.loss - plain.loss).item<double>(), 10 * 2 * 0.25, 1e-4) << name;
    EXPECT_EQ(sums.label_loss.item<float>(), plain.label_loss.item<float>()) << name;
    sums.loss.backward();
    EXPECT_NEAR(balance->weight.grad().item<double>(), 10 * 2, 1e-5) << name;
  }
}

}  // namespace
}  // namespace nmt::objective_test
