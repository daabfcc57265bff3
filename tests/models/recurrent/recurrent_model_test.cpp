#include "models/recurrent/recurrent_model.h"

#include <gtest/gtest.h>
#include <torch/optim/adam.h>

#include <map>

#include "base/error.h"
#include "models/formula_weights.h"
#include "models/model_checks.h"
#include "models/model_directory.h"
#include "models/recurrent/recurrent_forms.h"
#include "models/tiny_batch.h"
#include "nn/ops/cross_entropy.h"
#include "support.h"
#include "tensor_support.h"

namespace nmt::recurrent_model_test {
namespace {

using test::batch_of;
using test::expect_close;
using test::formula_model;
using test::full_logits;
using test::Pair;
using test::real_rows;
using test::recurrent_form;
using test::recurrent_forms;
using test::stepped_logits;

constexpr int64_t kSource = 17, kTarget = 17;

class RecurrentForm : public testing::TestWithParam<std::string> {
 protected:
  std::shared_ptr<TranslationModel> model(torch::Device device = torch::kCPU) const {
    return formula_model(recurrent_form(GetParam()), kSource, kTarget, device);
  }
};

std::vector<std::string> names() {
  std::vector<std::string> found;
  for (const auto& item : recurrent_forms()) found.push_back(item.first);
  return found;
}
INSTANTIATE_TEST_SUITE_P(Forms, RecurrentForm, testing::ValuesIn(names()), [](const auto& info) { return info.param; });

const std::vector<Pair> kPairs = {
    {{5, 9, 4, 11}, {4, 8, 15, 6, 9, 12, 5, 7}},
    {{7}, {9, 6, 5, 10}},
    {{10, 6, 8, 5, 4, 16, 12, 14, 9}, {7}},
    {{1, 15, 13}, {}},
};

TEST_P(RecurrentForm, GivesStepByStepTheLogitsOfTheFullPass) {
  for (const auto device : test::devices()) test::expect_steps_of_the_full_pass(*model(device), kPairs, device, 1e-5);
}

TEST_P(RecurrentForm, TranslatesASentenceInABatchAsAlone) { test::expect_steps_as_alone(*model(), kPairs); }

TEST_P(RecurrentForm, TrainsOnAPaddedBatchAsOnItsSentences) {
  for (const auto device : test::devices()) test::expect_full_pass_as_alone(*model(device), kPairs, device);
}

TEST_P(RecurrentForm, LooksAtEveryWordOfTheSourceAndNotAtPadding) {
  const auto model = this->model();
  auto batch = to_tensors(batch_of(kPairs), torch::kCPU);
  const auto before = full_logits(*model, batch);
  batch.source[0][0] = 13;  // was 5
  EXPECT_FALSE(full_logits(*model, batch)[0][0].equal(before[0][0]));
  batch.source[0][0] = 5;
  batch.source[0][7] = 12;  // padding
  expect_close(full_logits(*model, batch)[0], before[0], 1e-7);
}

TEST_P(RecurrentForm, ContinuesTheSelectedRows) {
  for (const auto device : test::devices())
    test::expect_selected_rows_continue(*model(device), kPairs, device, 1, device.is_cpu());
}

TEST_P(RecurrentForm, TakesSeveralTokensAtOnce) {
  const torch::NoGradGuard no_grad;
  for (const auto device : test::devices()) {
    EXPECT_EQ(model(device)->capabilities().exact_prefill, device.is_cpu());
    test::expect_prefill_of_single_steps(*model(device), kPairs, device);
  }
}

// bfloat16 keeps 8 bits of every product's result; states stay in float.
TEST_P(RecurrentForm, InBfloat16StaysNearFloat) {
  const auto model = this->model();
  const auto batch = to_tensors(batch_of(kPairs), torch::kCPU);
  const auto exact = real_rows(full_logits(*model, batch), batch);
  model->set_compute_type(torch::kBFloat16);
  ForwardContext no_dropout;
  EXPECT_EQ(model->forward(batch, no_dropout).scalar_type(), torch::kBFloat16);
  for (const auto& low : {full_logits(*model, batch), stepped_logits(*model, batch)}) {
    EXPECT_EQ(low.scalar_type(), torch::kFloat32);
    const auto difference = (real_rows(low, batch) - exact).abs();
    EXPECT_GT(difference.max().item<double>(), 1e-6) << "it was computed in float32";
    EXPECT_LT(difference.mean().item<double>(), 0.02 * exact.abs().mean().item<double>());
  }
}

// Three elements a parameter, dropout on: its masks are a function of the pass alone.
TEST_P(RecurrentForm, HasTheGradientOfItsLoss) {
  const auto model = this->model();
  const auto batch = to_tensors(batch_of({kPairs[1], kPairs[2], kPairs[3]}), torch::kCPU);
  const auto labels = batch.target_out.flatten().masked_fill(batch.target_out.flatten() == 0, -1);
  const auto loss = [&] {
    ForwardContext pass(3, 5, 0);
    const auto hidden = model->forward(batch, pass).flatten(0, 1);
    return output_cross_entropy(hidden, model->output_weight(), model->output_bias(), labels, 0.1).loss;
  };
  loss().backward();
  model->finish_gradients();
  for (const auto& item : model->named_parameters()) {
    auto values = item.value().detach().flatten();  // a view
    const auto gradient = item.value().grad().flatten();
    const int64_t first = item.key().ends_with("embedding") ? 5 * item.value().size(1) : 0;
    for (const int64_t place : {first, first + 3, first + values.numel() / 3}) {
      const int64_t i = place % values.numel();
      constexpr double kStep = 4e-3;
      const double before = values[i].item<double>();
      values[i] = before + kStep;
      const double up = loss().item<double>();
      values[i] = before - kStep;
      const double down = loss().item<double>();
      values[i] = before;
      const double expected = (up - down) / (2 * kStep);
      EXPECT_NEAR(gradient[i].item<double>(), expected, 6e-3 * std::max(1.0, std::abs(expected)))
          << item.key() << " element " << i;
    }
  }
}

TEST_P(RecurrentForm, RecordsItsAttention) {
  const auto model = this->model();
  const auto batch = to_tensors(batch_of(kPairs), torch::kCPU);
  const auto maps = model->attention_maps(batch);
  if (GetParam().starts_with("plain")) {
    EXPECT_TRUE(maps.empty());
    return;
  }
  ASSERT_EQ(maps.size(), 1u);
  EXPECT_EQ(maps[0].name, "decoder.attention");
  const auto& weights = maps[0].weights;
  ASSERT_EQ(weights.sizes(), at::IntArrayRef({4, 1, batch.target_in.size(1), batch.source.size(1)}));
  EXPECT_EQ(weights[1].narrow(2, 2, batch.source.size(1) - 2).abs().sum().item<double>(), 0) << "padding";
  if (recurrent_form(GetParam()).attention_normalization == AttentionNormalization::kSoftmax &&
      !GetParam().starts_with("local"))
    expect_close(weights.sum(-1), torch::ones({4, 1, batch.target_in.size(1)}), 1e-5);
}

// Each score within each window: training, steps of a search, rows that are reordered.
TEST(RecurrentModel, LooksThroughAWindowWithEveryScore) {
  for (const char* window : {"predictive", "monotonic"})
    for (const char* score : {"scaled_dot", "dot", "general", "additive", "cosine", "scaled_cosine", "location"}) {
      SCOPED_TRACE(std::string(window) + " " + score);
      const auto config = test::model_config(
          std::string("architecture: recurrent, num_blocks: 1, d_model: 12, encoder_size: 6, max_positions: 20, "
                      "tie_embeddings: none, local_window: 2, attention_window: ") +
          window + ", attention_score: " + score);
      const auto model = formula_model(config, kSource, kTarget);
      test::expect_steps_of_the_full_pass(*model, kPairs, torch::kCPU, 1e-5);
      test::expect_steps_as_alone(*model, kPairs);
      test::expect_full_pass_as_alone(*model, kPairs, torch::kCPU);
      test::expect_selected_rows_continue(*model, kPairs, torch::kCPU, 2, /*same_bits=*/true);
      test::expect_prefill_of_single_steps(*model, kPairs, torch::kCPU);

      const auto batch = to_tensors(batch_of(kPairs), torch::kCPU);
      const auto weights = model->attention_maps(batch)[0].weights.select(1, 0);  // [batch, target, source]
      for (int64_t t = 0; t < weights.size(1); ++t) {
        const auto row = weights[2][t];  // ten source positions
        EXPECT_LE((row > 0).sum().item<int64_t>(), 5) << t;
        if (std::string(window) != "monotonic") continue;
        const int64_t first = std::max<int64_t>(0, t - 2), last = std::min<int64_t>(t + 2, 9);
        EXPECT_NEAR(row.narrow(0, first, last - first + 1).sum().item<double>(), 1, 1e-5) << t;
      }
    }
}

// An old name of one of the combinations.
TEST(RecurrentModel, LocalIsTheGeneralScoreInAPredictiveWindow) {
  auto config = recurrent_form("local");
  const auto before = formula_model(config, kSource, kTarget);
  config.attention_score = AttentionScoreKind::kGeneral;
  config.attention_window = AttentionWindow::kPredictive;
  const auto now = formula_model(config, kSource, kTarget);
  const auto batch = to_tensors(batch_of(kPairs), torch::kCPU);
  EXPECT_TRUE(full_logits(*now, batch).equal(full_logits(*before, batch)));
}

TEST(RecurrentModel, HasTheParameterCountOfThePublishedModel) {
  const auto path = test::source_directory() / "configs" / "rnn_attention_small.yaml";
  EXPECT_EQ(make_model(load_config(path).config.model, 7853, 5893)->parameter_count(), 20'518'405);
}

TEST(RecurrentModel, IsFedWithItsOwnChoicesWhereTheCoinSaysSo) {
  auto config = recurrent_form("bahdanau");
  config.dropout_rate = 0;
  const auto model = formula_model(config, kSource, kTarget);
  const auto batch = to_tensors(batch_of({kPairs[0]}), torch::kCPU);
  const auto run = [&](double share) {
    ForwardContext pass(3, 5, 0);
    pass.set_teacher_forcing(share);
    return model->forward(batch, pass).detach()[0];
  };
  const auto forced = run(1), free = run(0), half = run(0.5);
  EXPECT_TRUE(run(0.5).equal(half)) << "the coins are a function of the pass";
  EXPECT_TRUE(free[0].equal(forced[0])) << "<s> is always fed";
  EXPECT_FALSE(free[1].equal(forced[1]));
  EXPECT_FALSE(half.equal(forced));
  EXPECT_FALSE(half.equal(free));

  // Fed by hand with its own choices it gives the same.
  const auto logits = model->logits(free.unsqueeze(0))[0].detach();
  const torch::NoGradGuard no_grad;
  const auto state = model->start(batch.source, batch.source_lengths);
  auto token = batch.target_in.select(1, 0);
  for (int64_t t = 0; t < logits.size(0); ++t) {
    const auto step = model->step(*state, token);
    expect_close(step[0], logits[t], 1e-5);
    token = step.argmax(-1);
  }
}

TEST(RecurrentModel, LearnsToCopy) {
  for (const char* options : {"decoder_order: bahdanau, attention_score: additive",
                              "decoder_order: luong, cell: lstm, "
                              "attention_score: general, readout: tanh"}) {
    const auto config = test::model_config(
        std::string("architecture: recurrent, num_blocks: 1, d_model: 32, dropout_rate: 0, tie_embeddings: none, "
                    "embedding_init: standard_normal, ") +
        options);
    const auto model = make_model(config, 12, 12);
    initialise(*model, config, 1);
    std::vector<Pair> pairs;
    for (int64_t i = 0; i < 24; ++i) {
      std::vector<int64_t> words;
      for (int64_t k = 0; k <= i % 4; ++k) words.push_back(4 + (i * 5 + k * 3 + i * k) % 8);
      pairs.emplace_back(words, words);
    }
    const auto batch = to_tensors(batch_of(pairs), torch::kCPU);
    const auto labels = batch.target_out.flatten().masked_fill(batch.target_out.flatten() == 0, -1);
    torch::optim::Adam adam(model->parameters(), torch::optim::AdamOptions(0.02));
    LossSums sums;
    for (int64_t update = 1; update <= 60; ++update) {
      ForwardContext pass(1, update, 0);
      adam.zero_grad();
      sums = output_cross_entropy(model->forward(batch, pass).flatten(0, 1), model->output_weight(),
                                  model->output_bias(), labels, 0);
      (sums.loss / 84).backward();
      adam.step();
    }
    EXPECT_EQ(sums.correct.item<int64_t>(), (labels >= 0).sum().item<int64_t>()) << options;
  }
}

TEST(RecurrentModel, StartsAsTheConfigurationSays) {
  auto config = recurrent_form("bahdanau");
  config.init = MatrixInit::kNormal;
  config.embedding_init = EmbeddingInit::kInit;
  config.recurrent_init = RecurrentInit::kOrthogonal;
  config.attention_init = AttentionInit::kBahdanau;
  config.d_model = 64;
  const auto model = make_model(config, 300, 300);
  initialise(*model, config, 1);
  const auto parameters = model->named_parameters();
  const auto& recurrent = parameters["decoder.layer_0.recurrent.weight"];
  for (int64_t gate = 0; gate < 3; ++gate) {
    const auto block = recurrent.narrow(0, gate * 64, 64);
    expect_close(block.mm(block.t()).detach(), torch::eye(64), 1e-5);
  }
  EXPECT_EQ(parameters["decoder.attention.score.v"].abs().sum().item<double>(), 0);
  EXPECT_NEAR(parameters["decoder.attention.score.query.weight"].std().item<double>(), 0.001, 1e-4);
  EXPECT_NEAR(parameters["decoder.layer_0.input.weight"].std().item<double>(), 0.01, 1e-3);
  EXPECT_NEAR(parameters["source_embedding"].std().item<double>(), 0.01, 1e-3);
}

TEST(RecurrentModel, RefusesWhatDoesNotFit) {
  const auto message = [](const std::string& options, int64_t source = 17, int64_t target = 17) {
    return test::message_of<Error>([&] {
      make_model(test::model_config("architecture: recurrent, d_model: 12, attention_score: additive, " + options),
                 source, target);
    });
  };
  EXPECT_EQ(
      message("tie_embeddings: target"),
      "model.tie_embeddings: target shares the output layer's table, but its input has 48 features and embeddings "
      "12; use tie_embeddings: none, or readout: tanh with readout_size: 12");
  EXPECT_EQ(message("tie_embeddings: all, readout: tanh", 17, 19),
            "model.tie_embeddings: all shares one table, but the vocabularies have 17 and 19 entries; use a joint "
            "vocabulary (data.joint_vocabulary) or tie_embeddings: target");
  EXPECT_EQ(
      message("tie_embeddings: none, initial_state: copy, num_blocks: 2"),
      "model.initial_state: copy needs states of the same size and number on both sides, not 2 layers of 24 and 2 "
      "of 12; use last");
}

TEST(RecurrentModel, KnowsWhereTheLocationScoreEnds) {
  auto config = recurrent_form("bahdanau");
  config.max_positions = 7;
  EXPECT_EQ(make_model(config, kSource, kTarget)->limits().source, std::numeric_limits<int64_t>::max());
  config.attention_score = AttentionScoreKind::kLocation;
  const auto limits = make_model(config, kSource, kTarget)->limits();
  EXPECT_EQ(limits.source, 7);
  EXPECT_EQ(limits.target, std::numeric_limits<int64_t>::max()) << "targets have no limit";
}

}  // namespace
}  // namespace nmt::recurrent_model_test
