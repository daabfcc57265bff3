#include "config/deep_init.h"

#include <gtest/gtest.h>

#include <string>

#include "config/loading/schema.h"

namespace nmt::deep_init_test {
namespace {

ModelConfig model_config(const std::string& options) {
  return parse_config("{model: {" + options + "}}", "test").config.model;
}

// Wang et al. 2022, figure 2, by hand: N = 4 encoder blocks and M = 2 decoder blocks, N^4 M = 512.
TEST(DeepInit, HasTheConstantsOfDeepNet) {
  const auto config = model_config("deep_init: deepnet, encoder_blocks: 4, decoder_blocks: 2");
  const DeepInit encoder(config, Stack::kEncoder), decoder(config, Stack::kDecoder);
  EXPECT_NEAR(encoder.residual_weight(), 1.19623, 1e-4);   // 0.81 * 512^(1/16) = 0.81 * 1.476826
  EXPECT_NEAR(decoder.residual_weight(), 1.565085, 1e-5);  // 6^(1/4)
  EXPECT_NEAR(encoder.branch_gain(), 0.589101, 1e-4);
  EXPECT_NEAR(decoder.branch_gain(), 0.451801, 1e-5);  // 24^(-1/4)
  EXPECT_EQ(encoder.block_gain(3), 1);
}

TEST(DeepInit, ScalesByDepth) {
  const DeepInit decoder(model_config("deep_init: depth_scaled"), Stack::kDecoder);
  EXPECT_DOUBLE_EQ(decoder.block_gain(0), 1);
  EXPECT_DOUBLE_EQ(decoder.block_gain(3), 0.5);
  EXPECT_DOUBLE_EQ(decoder.block_gain(15), 0.25);
  EXPECT_DOUBLE_EQ(decoder.residual_weight(), 1);
  EXPECT_DOUBLE_EQ(decoder.branch_gain(), 1);
}

}  // namespace
}  // namespace nmt::deep_init_test
