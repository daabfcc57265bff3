#include "models/transformer/transformer.h"

#include <gtest/gtest.h>

#include <map>
#include <set>
#include <string>
#include <typeindex>
#include <vector>

#include "base/error.h"
#include "models/formula_weights.h"
#include "models/model_checks.h"
#include "models/model_directory.h"
#include "models/tiny_batch.h"
#include "models/transformer/transformer_forms.h"
#include "nn/ops/cross_entropy.h"
#include "support.h"
#include "tensor_support.h"

namespace nmt::transformer_test {
namespace {

using test::batch_of;
using test::expect_close;
using test::formula_model;
using test::full_logits;
using test::Pair;
using test::real_rows;
using test::stepped_logits;
using test::transformer_forms;

constexpr int64_t kSource = 17, kTarget = 17;

std::vector<std::string> names_of_forms() {
  std::vector<std::string> names;
  for (const auto& [name, config] : transformer_forms()) names.push_back(name);
  return names;
}

class TransformerForm : public testing::TestWithParam<std::string> {
 protected:
  const ModelConfig& config() const { return transformer_forms().at(GetParam()); }
  std::shared_ptr<TranslationModel> model(torch::Device device = torch::kCPU) const {
    return formula_model(config(), kSource, kTarget, device);
  }
};

INSTANTIATE_TEST_SUITE_P(Forms, TransformerForm, testing::ValuesIn(names_of_forms()),
                         [](const auto& info) { return info.param; });

// Different lengths; the longest target is longer than a cache's first capacity of 16 positions.
const std::vector<Pair> kPairs = {
    {{5, 9, 4, 11}, {4, 8, 15, 6, 9, 12, 5, 7, 14, 10, 4, 13, 16, 5, 8, 6, 11, 9, 7}},
    {{7}, {9, 6, 5, 10}},
    {{10, 6, 8, 5, 4, 16, 12, 14, 9}, {7}},
    {{1, 15, 13}, {}},
};

// Float32 by two orders of summation through up to three blocks.
TEST_P(TransformerForm, GivesStepByStepTheLogitsOfTheFullPass) {
  for (const auto device : test::devices()) test::expect_steps_of_the_full_pass(*model(device), kPairs, device, 1e-4);
}

TEST_P(TransformerForm, TranslatesASentenceInABatchAsAlone) { test::expect_steps_as_alone(*model(), kPairs); }

// Weights of 8 bits in some ten products a block.
TEST_P(TransformerForm, TranslatesASentenceInABatchAsAloneInEveryWeightFormat) {
  const auto model = this->model();
  const auto padded = to_tensors(batch_of(kPairs, 12), torch::kCPU);
  const auto exact = stepped_logits(*model, padded);
  for (const auto format : {kernels::WeightFormat::kBfloat16, kernels::WeightFormat::kInt8}) {
    model->set_packing({.format = format});
    const auto together = stepped_logits(*model, padded);
    EXPECT_FALSE(together.equal(exact)) << "another format, other bits";
    const auto error = (together - exact).abs().mean().item<double>();
    EXPECT_LT(error, 0.1 * exact.std().item<double>());
    test::expect_steps_as_alone(*model, kPairs);
  }
}

TEST_P(TransformerForm, TrainsOnAPaddedBatchAsOnItsSentences) {
  for (const auto device : test::devices()) test::expect_full_pass_as_alone(*model(device), kPairs, device);
}

TEST_P(TransformerForm, DoesNotLookAtLaterTokens) {
  for (const auto device : test::devices()) {
    const auto model = this->model(device);
    auto batch = to_tensors(batch_of(kPairs), device);
    const auto before = full_logits(*model, batch)[0];
    batch.target_in[0][7] = 13;  // was 5
    const auto after = full_logits(*model, batch)[0];
    expect_close(after.narrow(0, 0, 7), before.narrow(0, 0, 7), 1e-7, device.str());
    const auto moved = (after - before).narrow(0, 7, 13).abs().amax(-1);  // its own row and all later ones
    EXPECT_GT(moved.min().item<double>(), 1e-5) << device;
  }
}

TEST_P(TransformerForm, DoesNotLookAtPadding) {
  for (const auto device : test::devices()) {
    const auto model = this->model(device);
    auto batch = to_tensors(batch_of(kPairs), device);
    const auto before = real_rows(full_logits(*model, batch), batch);
    const auto clean = batch;
    batch.source = torch::where(batch.source == 0, torch::full_like(batch.source, 12), batch.source);
    batch.target_in = torch::where(batch.target_in == 0, torch::full_like(batch.target_in, 12), batch.target_in);
    expect_close(real_rows(full_logits(*model, batch), clean), before, 1e-7, device.str());
    // With lengths that call it real it shows: the lengths are what hides it.
    batch.source_lengths.fill_(batch.source.size(1));
    const auto unmasked = real_rows(full_logits(*model, batch), clean);
    EXPECT_GT((unmasked - before).abs().max().item<double>(), 1e-3) << device;
  }
}

TEST_P(TransformerForm, TellsTheOrderOfSourceWordsByPositionsAlone) {
  const auto model = this->model();
  const auto batch = to_tensors(batch_of({{{5, 9, 4, 11}, {4, 8}}}), torch::kCPU);
  auto permuted = batch;
  permuted.source = batch.source.index_select(1, torch::tensor({2, 0, 4, 3, 1}, torch::kInt64));
  const double moved = (full_logits(*model, permuted) - full_logits(*model, batch)).abs().max().item<double>();
  if (config().positions == PositionKind::kNone)
    EXPECT_LT(moved, 1e-5);
  else
    EXPECT_GT(moved, 1e-3);
}

TEST_P(TransformerForm, RecordsTheWeightsOfEveryAttention) {
  const auto model = this->model();
  const auto batch = to_tensors(batch_of(kPairs), torch::kCPU);
  const auto maps = model->attention_maps(batch);
  const auto& c = config();
  std::vector<std::string> names;
  for (int64_t i = 0; i < c.encoder_blocks.value_or(c.num_blocks); ++i)
    names.push_back("encoder." + std::to_string(i) + ".self");
  for (int64_t i = 0; i < c.decoder_blocks.value_or(c.num_blocks); ++i) {
    if (c.decoder_mixer == MixerKind::kAttention) names.push_back("decoder." + std::to_string(i) + ".self");
    names.push_back("decoder." + std::to_string(i) + ".cross");
  }
  ASSERT_EQ(maps.size(), names.size());
  const int64_t source = batch.source.size(1), target = batch.target_in.size(1);
  for (size_t i = 0; i < maps.size(); ++i) {
    const auto& [name, weights] = maps[i];
    EXPECT_EQ(name, names[i]);
    const bool of_encoder = name.starts_with("encoder"), cross = name.ends_with("cross");
    const int64_t queries = of_encoder ? source : target, keys = of_encoder || cross ? source : target;
    ASSERT_EQ(weights.sizes(), (std::vector<int64_t>{std::ssize(kPairs), c.num_heads, queries, keys})) << name;
    // Nothing of the second sentence's padding; what is real sums to one.
    const int64_t real = keys == source ? 2 : 5;
    EXPECT_EQ(weights[1].narrow(1, 0, 2).slice(2, real).abs().max().item<double>(), 0) << name;
    if (c.attention_normalization == AttentionNormalization::kSoftmax)
      expect_close(weights[1].sum(-1), torch::ones({c.num_heads, queries}), 1e-5);
  }
}

TEST_P(TransformerForm, KeepsItsMatricesTied) {
  for (const auto device : test::devices()) {
    const auto model = this->model(device);
    const auto parameters = model->named_parameters();
    const std::string tie = config().tie_embeddings.name();
    const char* output = tie == "all" ? "embedding" : tie == "target" ? "target_embedding" : "output_weight";
    ASSERT_TRUE(parameters.contains(output));
    EXPECT_TRUE(model->output_weight().is_same(parameters[output])) << device;
    EXPECT_EQ(model->output_weight().device(), device);
    EXPECT_EQ(parameters.contains("embedding"), tie == "all");
    EXPECT_EQ(parameters.contains("source_embedding"), tie != "all");
    EXPECT_EQ(parameters.contains("output_weight"), tie == "none");
    EXPECT_EQ(model->output_bias().defined(), config().output_bias);

    // A word of the target moves the inputs by its table alone, and the logits by the same one where it is tied.
    const auto batch = to_tensors(batch_of({{{5, 6}, {7, 8}}}), device);
    ForwardContext no_dropout;
    const auto hidden = model->forward(batch, no_dropout).detach();
    const auto logits = full_logits(*model, batch);
    {
      const torch::NoGradGuard no_grad;
      const char* input = tie == "all" ? "embedding" : "target_embedding";
      model->named_parameters()[input][7].add_(1);
    }
    const auto changed = model->forward(batch, no_dropout).detach();
    EXPECT_TRUE(changed[0][0].equal(hidden[0][0])) << "<s> sees no 7";
    EXPECT_FALSE(changed[0][1].equal(hidden[0][1])) << "7 is fed here";
    const bool output_moved = !full_logits(*model, batch)[0][0].equal(logits[0][0]);
    EXPECT_EQ(output_moved, tie != "none") << device;
  }
}

TEST_P(TransformerForm, KeepsThePaddingRowConstantAndOnlyThat) {
  for (const auto device : test::devices()) {
    const auto model = this->model(device);
    const auto batch = to_tensors(batch_of(kPairs), device);
    ForwardContext no_dropout;
    model->logits(model->forward(batch, no_dropout)).sum().backward();
    const auto unfinished = model->output_weight().grad().clone();
    EXPECT_GT(unfinished[0].abs().sum().item<double>(), 0) << "the output layer pulls at row 0";
    model->finish_gradients();
    const auto& gradient = model->output_weight().grad();
    const bool constant = config().zero_padding_embedding && config().tie_embeddings != TiedEmbeddings::kNone;
    EXPECT_EQ(gradient[0].abs().sum().item<double>() == 0, constant) << device;
    EXPECT_TRUE(gradient.narrow(0, 1, kTarget - 1).equal(unfinished.narrow(0, 1, kTarget - 1)));
  }
}

TEST_P(TransformerForm, ContinuesTheSelectedRows) {
  for (const auto device : test::devices())
    test::expect_selected_rows_continue(*model(device), kPairs, device, 4, device.is_cpu());
}

// Where relative positions or scores need plain attention, a search waits until all of a batch are finished.
TEST_P(TransformerForm, TakesSentencesUnderWay) {
  const auto model = this->model(torch::kCPU);
  EXPECT_FALSE(model->capabilities().ragged_positions) << "training";
  const torch::NoGradGuard no_grad;
  const auto& c = config();
  const std::set<std::string> plain = {"shaw", "t5", "transformer_xl", "deberta", "alibi"};
  const bool fits = !plain.contains(c.positions.name()) && c.attention_score == AttentionScoreKind::kScaledDot &&
                    c.attention_normalization == AttentionNormalization::kSoftmax;
  ASSERT_EQ(model->capabilities().ragged_positions, fits);
  if (fits) test::expect_joined_rows_as_alone(*model, kPairs);
}

// Rows and positions that nobody needs stand beside those that count; 35 steps go beyond the first capacity of 32.
TEST_P(TransformerForm, MakesTheSameStepsWithStaticCaches) {
  for (const auto device : test::devices()) {
    const auto model = this->model(device);
    const auto lengths = torch::tensor({1}, torch::kInt64), source = torch::tensor({{3}}, torch::kInt64).to(device);
    const auto kind_of_state = [&] {
      const torch::NoGradGuard no_grad;
      return std::type_index(typeid(*model->start(source, lengths)));
    };
    const auto usual = kind_of_state();
    const bool fixed = test::use_static_caches(*model);
    const auto& c = config();
    const std::set<std::string> fitting = {"sinusoidal", "learned", "hierarchical", "product", "complex", "none"};
    const bool fits = fitting.contains(c.positions.name()) && c.attention_score == AttentionScoreKind::kScaledDot &&
                      c.attention_normalization == AttentionNormalization::kSoftmax &&
                      c.decoder_mixer == MixerKind::kAttention;
    EXPECT_EQ(fixed, fits);
    EXPECT_EQ(kind_of_state() != usual, fits);
    test::expect_steps_of_the_full_pass(*model, kPairs, device, 1e-4);
    test::expect_selected_rows_continue(*model, kPairs, device, 5, /*same_bits=*/false);
  }
}

// What the other forms are tested against.
TEST_P(TransformerForm, MakesTheSameStepsWithPlainCaches) {
  for (const auto device : test::devices()) {
    const auto model = this->model(device);
    model->set_cache_form(CacheForm::kPlain);
    test::expect_steps_of_the_full_pass(*model, kPairs, device, 1e-4);
    test::expect_selected_rows_continue(*model, kPairs, device, 5, /*same_bits=*/device.is_cpu());
    const torch::NoGradGuard no_grad;
    EXPECT_FALSE(model->capabilities().ragged_positions);
  }
}

TEST_P(TransformerForm, TakesSeveralTokensAtOnce) {
  const torch::NoGradGuard no_grad;
  for (const auto device : test::devices()) {
    const auto model = this->model(device);
    for (const auto form : {CacheForm::kCpu, CacheForm::kPlain, CacheForm::kStatic}) {
      if (form == CacheForm::kStatic && model->capabilities().static_positions == 0) continue;
      if (form == CacheForm::kCpu && !device.is_cpu()) continue;  // it is the plain one there
      model->set_cache_form(form);
      EXPECT_EQ(model->capabilities().exact_prefill, device.is_cpu() || form == CacheForm::kStatic);
      test::expect_prefill_of_single_steps(*model, kPairs, device);
    }
    model->set_cache_form(CacheForm::kCpu);
    if (model->capabilities().ragged_positions) test::expect_prefilled_rows_join(*model, kPairs);
  }
}

// The same as on a GPU: the weights themselves are of the low precision.
TEST_P(TransformerForm, WithLowPrecisionWeightsStaysNearFloat) {
  for (const auto device : test::devices()) {
    const auto batch = to_tensors(batch_of(kPairs), device);
    const auto exact = real_rows(full_logits(*model(device), batch), batch);
    for (const auto type : {torch::kBFloat16, torch::kFloat16}) {
      const auto model = this->model(device);
      if (!test::use_static_caches(*model)) continue;
      model->to(type);
      model->set_compute_type(type);
      const auto low = stepped_logits(*model, batch);
      EXPECT_EQ(low.scalar_type(), torch::kFloat32);
      const auto difference = (real_rows(low, batch) - exact).abs();
      EXPECT_GT(difference.max().item<double>(), 1e-6) << "it was computed in float32";
      EXPECT_LT(difference.mean().item<double>(), 0.02 * exact.abs().mean().item<double>()) << device << " " << type;
    }
  }
}

// bfloat16 keeps 8 bits: each of some ten products and norms a block is off by up to 1/256 of its size.
TEST_P(TransformerForm, InBfloat16StaysNearFloat) {
  for (const auto device : test::devices()) {
    const auto model = this->model(device);
    const auto batch = to_tensors(batch_of(kPairs), device);
    const auto exact = real_rows(full_logits(*model, batch), batch);
    model->set_compute_type(torch::kBFloat16);
    EXPECT_EQ(model->compute_type(), torch::kBFloat16);
    ForwardContext no_dropout;
    EXPECT_EQ(model->forward(batch, no_dropout).scalar_type(), torch::kBFloat16);
    for (const auto& low : {full_logits(*model, batch), stepped_logits(*model, batch)}) {
      EXPECT_EQ(low.scalar_type(), torch::kFloat32);
      const auto difference = (real_rows(low, batch) - exact).abs();
      EXPECT_GT(difference.max().item<double>(), 1e-6) << "it was computed in float32";
      EXPECT_LT(difference.mean().item<double>(), 0.02 * exact.abs().mean().item<double>()) << device;
      EXPECT_LT(difference.max().item<double>(), 0.1 * exact.abs().max().item<double>()) << device;
    }
  }
}

// Three elements a parameter, dropout on: its masks are a function of the pass alone. Central differences of a float32
// loss, with activations that have no kink.
TEST(Transformer, HasTheGradientOfItsLoss) {
  for (const char* form : {"pre_norm", "bare", "vaswani", "multi_query", "additive"}) {
    auto config = transformer_forms().at(form);
    config.dropout_rate = 0.2;
    config.qkv_activation = ProjectionActivation::kNone;
    if (config.activation == FeedForwardActivation::kRelu) config.activation = FeedForwardActivation::kGelu;
    const auto model = formula_model(config, kSource, kTarget);
    const auto batch = to_tensors(batch_of({kPairs[1], kPairs[2], kPairs[3]}), torch::kCPU);
    const auto labels = batch.target_out.flatten().masked_fill(batch.target_out.flatten() == 0, -1);
    const auto loss = [&] {
      ForwardContext pass(3, 5, 0);
      const auto hidden = model->forward(batch, pass).flatten(0, 1);
      return output_cross_entropy(hidden, model->output_weight(), model->output_bias(), labels, 0.1).loss;
    };
    loss().backward();
    model->finish_gradients();
    int compared = 0;
    for (const auto& item : model->named_parameters()) {
      auto values = item.value().detach().flatten();  // a view
      const auto gradient = item.value().grad().flatten();
      // Not row 0 of a table, and a row that the batch uses.
      const int64_t first = item.key().ends_with("embedding") ? 5 * config.d_model : 0;
      for (const int64_t i : {first, first + 3, std::min(first + 7, values.numel() - 1)}) {
        constexpr double kStep = 4e-3;
        const double before = values[i].item<double>();
        values[i] = before + kStep;
        const double up = loss().item<double>();
        values[i] = before - kStep;
        const double down = loss().item<double>();
        values[i] = before;
        const double expected = (up - down) / (2 * kStep);
        EXPECT_NEAR(gradient[i].item<double>(), expected, 5e-3 * std::max(1.0, std::abs(expected)))
            << form << " " << item.key() << " element " << i;
        ++compared;
      }
    }
    EXPECT_EQ(compared, 3 * std::ssize(model->parameters()));
  }
}

TEST(Transformer, DropsByTheKeyOfThePass) {
  const auto model = formula_model(transformer_forms().at("vaswani"), kSource, kTarget);
  const auto batch = to_tensors(batch_of(kPairs), torch::kCPU);
  const auto run = [&](ForwardContext pass) { return real_rows(model->forward(batch, pass).detach(), batch); };
  const auto once = run(ForwardContext(1, 2, 0));
  EXPECT_TRUE(run(ForwardContext(1, 2, 0)).equal(once));
  for (const auto& other :
       {ForwardContext(), ForwardContext(2, 2, 0), ForwardContext(1, 3, 0), ForwardContext(1, 2, 1)})
    EXPECT_FALSE(run(other).equal(once));
}

}  // namespace
}  // namespace nmt::transformer_test
