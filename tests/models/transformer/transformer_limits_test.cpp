// What a Transformer cannot take, and how it says so.
#include <gtest/gtest.h>

#include <limits>
#include <string>

#include "base/error.h"
#include "models/formula_weights.h"
#include "models/model_checks.h"
#include "models/model_directory.h"
#include "models/tiny_batch.h"
#include "models/transformer/transformer_forms.h"
#include "support.h"

namespace nmt::transformer_limits_test {
namespace {

using test::batch_of;
using test::formula_model;
using test::full_logits;
using test::Pair;
using test::transformer_forms;

constexpr int64_t kSource = 17, kTarget = 17;

TEST(TransformerLimits, RefusesWhatDoesNotFit) {
  struct Case {
    const char* what;
    ModelConfig config;
    int64_t source, target;
    const char* message;
  };
  const auto small = test::model_config("d_model: 16, d_ff: 32, num_blocks: 1, num_heads: 2");
  const auto with = [&](auto&& change) {
    auto config = small;
    change(config);
    return config;
  };
  const Case cases[] = {
      {"two vocabularies in one table", small, 10, 11,
       "model.tie_embeddings: all shares one table, but the vocabularies have 10 and 11 entries; use a joint "
       "vocabulary "
       "(data.joint_vocabulary) or tie_embeddings: target"},
      {"score of a relative kind",
       with([](auto& c) { c.positions = PositionKind::kAlibi, c.attention_score = AttentionScoreKind::kDot; }), 10, 10,
       "model.attention_score: dot does not go with model.positions alibi, which has a score of its own; use "
       "scaled_dot, or positions added to embeddings"},
  };
  for (const auto& c : cases)
    EXPECT_EQ(test::message_of<Error>([&] { make_model(c.config, c.source, c.target); }), c.message) << c.what;
}

TEST(TransformerLimits, KnowsWhereItsPositionsEnd) {
  auto config = transformer_forms().at("pre_norm");
  config.max_positions = 5;
  const auto limit_of = [&](PositionKind kind) {
    config.positions = kind;
    const auto limits = make_model(config, kSource, kTarget)->limits();
    EXPECT_EQ(limits.source, limits.target);
    return limits.target;
  };
  EXPECT_EQ(limit_of(PositionKind::kLearned), 5);
  EXPECT_EQ(limit_of(PositionKind::kProduct), 5);
  EXPECT_EQ(limit_of(PositionKind::kHierarchical), 25);
  for (const auto kind :
       {PositionKind::kSinusoidal, PositionKind::kRecurrent, PositionKind::kRotary, PositionKind::kNone})
    EXPECT_EQ(limit_of(kind), std::numeric_limits<int64_t>::max()) << name_of(kind);
}

TEST(TransformerLimits, RefusesSentencesBeyondLearnedPositions) {
  auto config = transformer_forms().at("pre_norm");
  config.max_positions = 5;
  const auto model = formula_model(config, kSource, kTarget);
  const auto fits = to_tensors(batch_of({{{4, 5, 6, 7}, {4, 5, 6, 7}}}), torch::kCPU);
  EXPECT_EQ(full_logits(*model, fits).size(1), 5);
  const auto message = [&](const Pair& pair) {
    return test::message_of<Error>([&] { full_logits(*model, to_tensors(batch_of({pair}), torch::kCPU)); });
  };
  const std::string expected =
      "model.max_positions: a sentence of 6 tokens does not fit the 5 learned positions; raise it or shorten the input "
      "(data.maxlen1, data.maxlen2)";
  EXPECT_EQ(message({{4, 5, 6, 7, 8}, {4}}), expected);
  EXPECT_EQ(message({{4}, {4, 5, 6, 7, 8}}), expected);
  const torch::NoGradGuard no_grad;
  const auto state = model->start(fits.source, fits.source_lengths);
  const auto token = torch::tensor({4}, torch::kInt64);
  for (int i = 0; i < 5; ++i) model->step(*state, token);
  EXPECT_EQ(test::message_of<Error>([&] { model->step(*state, token); }), expected);
}

}  // namespace
}  // namespace nmt::transformer_limits_test
