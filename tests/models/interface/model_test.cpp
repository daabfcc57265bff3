#include "models/interface/model.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "base/error.h"
#include "models/formula_weights.h"
#include "models/model_directory.h"
#include "models/tiny_batch.h"
#include "support.h"
#include "tensor_support.h"

namespace nmt::model_test {
namespace {

using test::batch_of;

ModelConfig small() { return test::model_config("d_model: 16, d_ff: 32, num_blocks: 1, num_heads: 2"); }

TEST(ToTensors, KeepsRowsWidthsAndLengths) {
  for (const auto device : test::devices()) {
    const auto batch = to_tensors(batch_of({{{5, 6}, {7}}, {{8}, {9, 10, 11}}}), device);
    EXPECT_TRUE(batch.source.cpu().equal(torch::tensor({{5, 6, 3}, {8, 3, 0}}, torch::kInt64)));
    EXPECT_TRUE(batch.target_in.cpu().equal(torch::tensor({{2, 7, 0, 0}, {2, 9, 10, 11}}, torch::kInt64)));
    EXPECT_TRUE(batch.target_out.cpu().equal(torch::tensor({{7, 3, 0, 0}, {9, 10, 11, 3}}, torch::kInt64)));
    EXPECT_TRUE(batch.source_lengths.equal(torch::tensor({3, 2}, torch::kInt64)));  // on the CPU: equal() would throw
    EXPECT_TRUE(batch.target_lengths.equal(torch::tensor({2, 4}, torch::kInt64)));
    EXPECT_EQ(batch.source.device(), device);
  }
}

// Deviation of what a matrix starts from; its limit too where that is uniform.
struct Start {
  double deviation = 0, limit = std::numeric_limits<double>::infinity();
};

Start xavier(const torch::Tensor& values) {
  const double limit = std::sqrt(6.0 / static_cast<double>(values.size(0) + values.size(1)));
  return {.deviation = limit / std::sqrt(3.0), .limit = limit};
}

struct InitialiseCase {
  const char* options;
  double embedding, positions, others;  // deviations; 0 = Xavier-uniform
};

class InitialWeights : public testing::TestWithParam<InitialiseCase> {};

TEST_P(InitialWeights, AreDrawnAsAskedForAndTheRestIsAtRest) {
  const auto& c = GetParam();
  const auto config = test::model_config(
      "d_model: 16, d_ff: 32, num_blocks: 1, num_heads: 2, output_bias: true, positions: learned, max_positions: "
      "200, " +
      std::string(c.options));
  const auto model = make_model(config, 300, 300);
  initialise(*model, config, 1);
  int matrices = 0;
  for (const auto& item : model->named_parameters()) {
    const auto& values = item.value();
    if (values.dim() < 2) {
      EXPECT_TRUE(values.equal(torch::full_like(values, item.key().ends_with("norm.weight") ? 1 : 0))) << item.key();
      continue;
    }
    ++matrices;
    const bool table = item.key() == "embedding";
    const auto drawn = table ? values.narrow(0, 1, values.size(0) - 1) : values;
    if (table) {
      EXPECT_EQ(values[0].abs().sum().item<double>(), 0);
    }
    const double deviation = table ? c.embedding : item.key().ends_with("positions.weight") ? c.positions : c.others;
    const auto expected = deviation > 0 ? Start{.deviation = deviation} : xavier(values);
    const double count = static_cast<double>(drawn.numel());
    // The deviation of a sample of n is within 4 / sqrt(2 n) of the truth.
    EXPECT_NEAR(drawn.std().item<double>() / expected.deviation, 1, 4 / std::sqrt(2 * count)) << item.key();
    EXPECT_NEAR(drawn.mean().item<double>(), 0, 4 * expected.deviation / std::sqrt(count)) << item.key();
    EXPECT_LE(drawn.abs().max().item<double>(), expected.limit) << item.key();
    if (deviation > 0) {
      EXPECT_GT(drawn.abs().max().item<double>(), 2 * deviation) << item.key() << " is not normal";
    }
  }
  EXPECT_EQ(matrices, 3 + 4 + 2 + 8 + 2);  // tables; encoder's attention, net; decoder's two attentions, net
}

INSTANTIATE_TEST_SUITE_P(
    Kinds, InitialWeights,
    testing::Values(InitialiseCase{"embedding_init: xavier", 0, 0.25, 0},
                    InitialiseCase{"embedding_init: normal", 0.25, 0.25, 0},
                    InitialiseCase{"embedding_init: standard_normal", 1, 0.25, 0},
                    InitialiseCase{"embedding_init: standard_normal, position_init: xavier", 1, 0, 0},
                    InitialiseCase{"embedding_init: normal, position_init: standard_normal", 0.25, 1, 0},
                    InitialiseCase{"embedding_init: standard_normal, init: normal, init_std: 0.02", 1, 0.25, 0.02}),
    [](const auto& info) { return "case" + std::to_string(info.index); });

TEST(Initialise, IsAFunctionOfTheSeed) {
  const auto weights = [](uint64_t seed) {
    torch::manual_seed(seed + 77);  // the global generator plays no part
    const auto model = make_model(small(), 50, 50);
    initialise(*model, small(), seed);
    std::vector<torch::Tensor> flat;
    for (const auto& parameter : model->parameters()) flat.push_back(parameter.detach().flatten());
    return torch::cat(flat);
  };
  EXPECT_TRUE(weights(1).equal(weights(1)));
  EXPECT_FALSE(weights(1).equal(weights(2)));
}

// Its scores are not divided by the root of head_dim, here 64 / 4.
TEST(Initialise, MakesTheQueriesOfT5Smaller) {
  auto config = test::model_config("d_model: 64, d_ff: 64, num_blocks: 1, num_heads: 4, positions: none");
  const auto usual = make_model(config, 50, 50);
  initialise(*usual, config, 1);
  config.positions = PositionKind::kT5;
  const auto t5 = make_model(config, 50, 50);
  initialise(*t5, config, 1);
  for (const auto& item : t5->named_parameters()) {
    if (item.value().dim() < 2 || !usual->named_parameters().contains(item.key())) continue;
    const double ratio = item.value().std().item<double>() / usual->named_parameters()[item.key()].std().item<double>();
    EXPECT_NEAR(ratio, item.key().ends_with("self_attention.query.weight") ? 0.25 : 1, 0.05) << item.key();
  }
}

TEST(Initialise, DrawsEveryRowOfATableWithoutZeroPadding) {
  auto config = small();
  config.zero_padding_embedding = false;
  const auto model = make_model(config, 50, 50);
  initialise(*model, config, 1);
  EXPECT_GT(model->output_weight()[0].abs().sum().item<double>(), 0);
}

}  // namespace
}  // namespace nmt::model_test
