#include <c10/core/GradMode.h>
#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "models/formula_weights.h"
#include "models/loss.h"
#include "models/tiny_batch.h"
#include "tensor_support.h"
#include "text/tokenizer.h"

namespace nmt::held_out_loss_test {
namespace {

using test::batch_of;
using test::Pair;

constexpr int64_t kVocabulary = 24;
const std::vector<Pair> kPairs = {{{4, 5, 6, 7}, {8, 9}}, {{10, 11}, {12, 13, 14, 15}}, {{16}, {}}};

std::shared_ptr<TranslationModel> recurrent_model() {
  return test::formula_model(test::model_config("architecture: recurrent, num_blocks: 1, d_model: 12, encoder_size: 8, "
                                                "attention_score: additive, tie_embeddings: none, dropout_rate: 0.5"),
                             kVocabulary, kVocabulary);
}

/// -log p of the references, token by token through the steps of a search, which reads `own` tokens or the reference.
double loss_by_steps(TranslationModel& model, bool own) {
  const c10::NoGradGuard no_gradients;
  double loss = 0;
  for (const auto& pair : kPairs) {
    const auto batch = to_tensors(batch_of({pair}), torch::kCPU);
    const auto state = model.start(batch.source, batch.source_lengths);
    auto token = batch.target_in.select(1, 0);
    for (int64_t t = 0; t < batch.target_out.size(1); ++t) {
      const auto logits = model.step(*state, token);
      loss -= torch::log_softmax(logits, -1)[0][batch.target_out[0][t].item<int64_t>()].item<double>();
      token = own ? logits.argmax(-1) : t + 1 < batch.target_in.size(1) ? batch.target_in.select(1, t + 1) : token;
    }
  }
  return loss;
}

TEST(HeldOutLoss, IsThatOfTheStepsOfASearch) {
  const auto model = recurrent_model();
  const std::vector<Batch> batches = {batch_of({kPairs[0], kPairs[1]}), batch_of({kPairs[2]})};
  const auto forced = evaluate(*model, batches, {}, torch::kCPU);
  EXPECT_EQ(forced.target_tokens, 3 + 5 + 1) << "pieces and end symbols";
  EXPECT_NEAR(forced.label_loss, loss_by_steps(*model, false), 1e-4);
  EXPECT_NEAR(forced.loss, forced.label_loss, 1e-9) << "without smoothing";
  EXPECT_NEAR(forced.perplexity(), std::exp(forced.label_loss / 9), 1e-12);
  EXPECT_NEAR(forced.accuracy(), forced.correct / 9.0, 1e-12);
}

TEST(HeldOutLoss, FreeRunningReadsItsOwnChoices) {
  const auto model = recurrent_model();
  const std::vector<Batch> batches = {batch_of({kPairs[0], kPairs[1]}), batch_of({kPairs[2]})};
  const auto free = evaluate(*model, batches, {}, torch::kCPU, 0);
  EXPECT_NEAR(free.label_loss, loss_by_steps(*model, true), 1e-4);
  EXPECT_GT(std::abs(free.label_loss - evaluate(*model, batches, {}, torch::kCPU).label_loss), 1e-3);
}

TEST(HeldOutLoss, AddsUp) {
  const auto model = recurrent_model();
  const std::vector<Batch> both = {batch_of({kPairs[0]}), batch_of({kPairs[1]})};
  auto sum = evaluate(*model, {both.data(), 1}, 0.1, torch::kCPU);
  sum += evaluate(*model, {both.data() + 1, 1}, 0.1, torch::kCPU);
  const auto whole = evaluate(*model, both, 0.1, torch::kCPU);
  EXPECT_EQ(sum.loss, whole.loss);
  EXPECT_EQ(sum.label_loss, whole.label_loss);
  EXPECT_EQ(sum.target_tokens, whole.target_tokens);
  EXPECT_EQ(LossTotals().mean_loss(), 0) << "of nothing";
}

TEST(HeldOutLoss, KnowsWhatFits) {
  const LengthLimits limits{.source = 3, .target = 2};
  EXPECT_TRUE(fits_into(limits, 3, 2));
  EXPECT_FALSE(fits_into(limits, 4, 2));
  EXPECT_FALSE(fits_into(limits, 3, 3));
  EXPECT_TRUE(fits_into({}, 1 << 20, 1 << 20));
}

}  // namespace
}  // namespace nmt::held_out_loss_test
