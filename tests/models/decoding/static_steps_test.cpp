#include <gtest/gtest.h>

#include "base/error.h"
#include "models/formula_weights.h"
#include "models/model_checks.h"
#include "models/transformer/decoder_states.h"
#include "support.h"
#include "tensor_support.h"

// That the steps are those of the model: TransformerForm.MakesTheSameStepsWithStaticCaches.
namespace nmt::static_steps_test {
namespace {

using test::batch_of;
using test::expect_close;
using test::stepped_logits;

constexpr int64_t kWords = 17;

const std::vector<test::Pair> kPairs = {{{5, 9, 4, 11}, {4, 8, 15, 6, 9, 12, 5}}, {{7}, {9, 6, 5, 10}}};

std::shared_ptr<TranslationModel> model_with(const char* positions) {
  return test::formula_model(test::model_config(std::string("d_model: 16, d_ff: 24, num_blocks: 2, num_heads: 2, "
                                                            "max_positions: 40, positions: ") +
                                                positions),
                             kWords, kWords);
}

TEST(StepShape, IsRoundedUpToPowersOfTwo) {
  const auto rounded = [](StepShape needed) { return rounded_up(needed, 100); };
  EXPECT_EQ(rounded({1, 1, 1}), (StepShape{1, 32, 32}));
  EXPECT_EQ(rounded({5, 33, 32}), (StepShape{8, 64, 32}));
  EXPECT_EQ(rounded({64, 64, 33}), (StepShape{64, 64, 64}));
  EXPECT_EQ(rounded({65, 1, 65}), (StepShape{128, 32, 100})) << "the model has no more positions";
}

// What a search has left in a step that serves the next one is not seen by it: other sentences, fewer words, a longer
// past.
TEST(StaticSteps, ServeOneSearchAfterTheOther) {
  const torch::NoGradGuard no_grad;
  const auto model = model_with("sinusoidal");
  const auto first = to_tensors(batch_of(kPairs), torch::kCPU);
  const auto second = to_tensors(batch_of({{{8, 6}, {7, 5}}, {{12, 13, 4}, {9}}}), torch::kCPU);
  const auto expected = stepped_logits(*model, second);
  ASSERT_TRUE(test::use_static_caches(*model));
  const auto before = stepped_logits(*model, first);
  expect_close(stepped_logits(*model, second), expected, 1e-5);
  EXPECT_TRUE(stepped_logits(*model, first).equal(before));
}

TEST(StaticSteps, ServeSeveralSearchesAtOnce) {
  const torch::NoGradGuard no_grad;
  const auto model = model_with("sinusoidal");
  const auto batch = to_tensors(batch_of(kPairs), torch::kCPU);
  const auto expected = stepped_logits(*model, batch);
  ASSERT_TRUE(test::use_static_caches(*model));
  const auto one = model->start(batch.source, batch.source_lengths);
  const auto other = model->start(batch.source, batch.source_lengths);
  for (int64_t t = 0; t < batch.target_in.size(1); ++t) {
    const auto tokens = batch.target_in.select(1, t).contiguous();
    expect_close(model->step(*one, tokens), expected.select(1, t), 1e-5);
    if (t % 2 == 0) {  // at half the speed
      const auto half = batch.target_in.select(1, t / 2).contiguous();
      expect_close(model->step(*other, half), expected.select(1, t / 2), 1e-5);
    }
  }
}

TEST(StaticSteps, EndWithThePositionsOfTheModel) {
  const torch::NoGradGuard no_grad;
  const auto model = model_with("learned");
  ASSERT_TRUE(test::use_static_caches(*model));
  const auto batch = to_tensors(batch_of({kPairs[0]}), torch::kCPU);
  const auto state = model->start(batch.source, batch.source_lengths);
  const auto token = torch::tensor({5}, torch::kInt64);
  for (int step = 0; step < 40; ++step) EXPECT_TRUE(model->step(*state, token).isfinite().all().item<bool>());
  EXPECT_EQ(
      test::message_of<Error>([&] { model->step(*state, token); }),
      "model.max_positions: a sentence of 41 tokens does not fit the 40 target positions; raise it or shorten the "
      "input (data.maxlen1, data.maxlen2)");
}

}  // namespace
}  // namespace nmt::static_steps_test
