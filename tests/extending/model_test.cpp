// A model of another architecture: checked as every model is, trained, then searched with.
#include <gtest/gtest.h>

#include "extending/decoder_only.h"
#include "extending/tiny_training.h"
#include "models/model_checks.h"
#include "search/list_search.h"

namespace nmt::extending_model_test {
namespace {

using test::check_pairs;
using test::kTinyVocabulary;
using test::tiny_config;

std::shared_ptr<DecoderOnly> with_formula_weights() {
  auto model = std::make_shared<DecoderOnly>(tiny_config(), kTinyVocabulary);
  test::set_formula_weights(*model, tiny_config());
  model->eval();
  return model;
}

TEST(ExtendingByAModel, PassesTheChecksOfEveryModel) {
  const auto model = with_formula_weights();
  test::expect_full_pass_as_alone(*model, check_pairs(), torch::kCPU);
  const c10::NoGradGuard no_gradients;
  test::expect_steps_as_alone(*model, check_pairs());
  test::expect_selected_rows_continue(*model, check_pairs(), torch::kCPU, 6, /*same_bits=*/true);
  test::expect_joined_rows_as_alone(*model, check_pairs());
  test::expect_prefill_of_single_steps(*model, check_pairs(), torch::kCPU);
  test::expect_prefilled_rows_join(*model, check_pairs());
  const auto batch = to_tensors(test::batch_of(check_pairs()), torch::kCPU);
  test::expect_close(test::real_rows(test::stepped_logits(*model, batch), batch),
                     test::real_rows(test::full_logits(*model, batch), batch), 1e-4);
}

TEST(ExtendingByAModel, LooksAtTheSourceAndNotAtTheFuture) {
  const auto model = with_formula_weights();
  const auto logits = [&](const test::Pair& pair) {
    return test::full_logits(*model, to_tensors(test::batch_of({pair}), torch::kCPU))[0];
  };
  const auto one = logits({{5, 6, 7}, {8, 9, 10}});
  EXPECT_TRUE(one.narrow(0, 0, 2).allclose(logits({{5, 6, 7}, {8, 11, 10}}).narrow(0, 0, 2), 1e-5, 1e-6));
  EXPECT_FALSE(one[2].allclose(logits({{5, 6, 7}, {8, 11, 10}})[2], 1e-3, 1e-3));
  EXPECT_FALSE(one[0].allclose(logits({{5, 12, 7}, {8, 9, 10}})[0], 1e-3, 1e-3));
}

TEST(ExtendingByAModel, LearnsAndTranslates) {
  const auto config = test::model_config("d_model: 32, d_ff: 64, num_blocks: 1, num_heads: 2, dropout_rate: 0");
  DecoderOnly model(config, kTinyVocabulary);
  test::expect_to_learn(model, config, 150);
  const c10::NoGradGuard no_gradients;
  std::vector<std::vector<int32_t>> sources;
  for (const auto& [source, target] : test::made_up_pairs()) sources.emplace_back(source.begin(), source.end());
  const auto found = search(model, sources, {{.beam_size = 3}});
  int right = 0;
  for (size_t i = 0; i < sources.size(); ++i)
    right += found[i].front().ids == std::vector<int32_t>(sources[i].rbegin(), sources[i].rend());
  EXPECT_EQ(right, 12) << "it knows them by heart";
}

}  // namespace
}  // namespace nmt::extending_model_test
