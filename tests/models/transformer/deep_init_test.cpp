#include "models/transformer/deep_init.h"

#include <gtest/gtest.h>

#include "models/formula_weights.h"
#include "models/make_model.h"
#include "models/tiny_batch.h"
#include "tensor_support.h"

namespace nmt {
namespace {

using test::model_config;

// Wang et al. 2022, figure 2, by hand: N = 4 encoder blocks and M = 2 decoder blocks, N^4 M = 512.
TEST(DeepInit, HasTheConstantsOfDeepNet) {
  const auto config = model_config("deep_init: deepnet, encoder_blocks: 4, decoder_blocks: 2");
  EXPECT_NEAR(residual_weight(config, Stack::kEncoder), 1.19623, 1e-4);   // 0.81 * 512^(1/16) = 0.81 * 1.476826
  EXPECT_NEAR(residual_weight(config, Stack::kDecoder), 1.565085, 1e-5);  // 6^(1/4)
  EXPECT_NEAR(initial_gain("encoder_3.feed_forward.inner.weight", config), 0.589101, 1e-4);
  EXPECT_NEAR(initial_gain("encoder_0.self_attention.value.weight", config), 0.589101, 1e-4);
  EXPECT_NEAR(initial_gain("decoder_1.cross_attention.output.weight", config), 0.451801, 1e-5);  // 24^(-1/4)
  EXPECT_EQ(initial_gain("decoder_1.cross_attention.query.weight", config), 1);
  EXPECT_EQ(initial_gain("encoder_1.self_attention.key.weight", config), 1);
  EXPECT_EQ(initial_gain("embedding", config), 1);
}

TEST(DeepInit, ScalesByDepth) {
  const auto config = model_config("deep_init: depth_scaled");
  EXPECT_DOUBLE_EQ(initial_gain("encoder_0.self_attention.query.weight", config), 1);
  EXPECT_DOUBLE_EQ(initial_gain("encoder_3.self_attention.query.weight", config), 0.5);
  EXPECT_DOUBLE_EQ(initial_gain("decoder_15.feed_forward.outer.weight", config), 0.25);
  EXPECT_DOUBLE_EQ(initial_gain("decoder_norm.weight", config), 1);
  EXPECT_DOUBLE_EQ(residual_weight(config, Stack::kDecoder), 1);
}

TEST(DeepInit, IsInTheInitialWeights) {
  const auto plain = model_config("d_model: 16, d_ff: 32, num_blocks: 4, num_heads: 2");
  for (const char* kind : {"depth_scaled", "deepnet"}) {
    auto config = plain;
    config.deep_init = kind;
    const auto a = make_model(plain, 9, 9), b = make_model(config, 9, 9);
    initialise(*a, plain, 1), initialise(*b, config, 1);
    for (const auto& item : a->named_parameters())
      test::expect_close(b->named_parameters()[item.key()],
                         item.value() * (item.value().dim() == 2 ? initial_gain(item.key(), config) : 1.0), 1e-7,
                         item.key());
  }
}

// LN(a x + f(x)) does not see a common factor (but for its epsilon): a model whose sub-layers' outputs are a times as
// large, with weight a, computes what the plain one does. In training and step by step.
TEST(DeepInit, WeighsWhatRunsPastASublayer) {
  const auto plain = model_config("d_model: 16, d_ff: 32, num_blocks: 2, num_heads: 2, norm_epsilon: 1.0e-12");
  auto deep = plain;
  deep.deep_init = "deepnet";
  const auto a = test::formula_model(plain, 9, 9), b = test::formula_model(deep, 9, 9);
  {
    const torch::NoGradGuard no_grad;
    for (auto& item : b->named_parameters()) {
      const auto& name = item.key();
      if (name.find(".output.") == std::string::npos && name.find(".outer.") == std::string::npos) continue;
      item.value().mul_(residual_weight(deep, name.starts_with("encoder") ? Stack::kEncoder : Stack::kDecoder));
    }
  }
  const auto batch = to_tensors(test::batch_of({{{4, 5, 6}, {7, 8}}}), torch::kCPU);
  const torch::NoGradGuard no_grad;
  ForwardContext none;
  const auto expected = a->forward(batch, none);
  test::expect_close(b->forward(batch, none), expected, 2e-5);
  const auto state = b->start(batch.source, batch.source_lengths);
  for (int64_t t = 0; t < 3; ++t)
    test::expect_close(b->step(*state, batch.target_in.select(1, t)), b->logits(expected.select(1, t)), 1e-4);
}

}  // namespace
}  // namespace nmt
