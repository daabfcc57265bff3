#include "models/model.h"

#include <gtest/gtest.h>

#include "base/error.h"
#include "models/formula_weights.h"
#include "models/tiny_batch.h"
#include "support.h"
#include "tensor_support.h"

namespace nmt {
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

TEST(MakeModel, NamesTheArchitecturesForAnUnknownOne) {
  auto config = small();
  config.architecture = "rnn";
  EXPECT_EQ(test::message_of<Error>([&] { make_model(config, 10, 10); }),
            "model.architecture: 'rnn' is none of transformer");
}

TEST(Initialise, DrawsXavierMatricesAndLeavesTheRestAtRest) {
  for (const char* embedding : {"xavier", "normal"}) {
    auto config = small();
    config.embedding_init = embedding;
    config.output_bias = true;
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
      const double limit = std::sqrt(6.0 / static_cast<double>(values.size(0) + values.size(1)));
      const double count = static_cast<double>(drawn.numel()), deviation = drawn.std().item<double>();
      const bool normal = table && config.embedding_init == "normal";
      const double expected = normal ? std::pow(config.d_model, -0.5) : limit / std::sqrt(3.0);
      // The deviation of a sample of n is within 4 / sqrt(2 n) of the truth.
      EXPECT_NEAR(deviation / expected, 1, 4 / std::sqrt(2 * count)) << item.key();
      EXPECT_NEAR(drawn.mean().item<double>(), 0, 4 * expected / std::sqrt(count)) << item.key();
      if (!normal) {
        EXPECT_LE(drawn.abs().max().item<double>(), limit) << item.key();
      }
    }
    EXPECT_EQ(matrices, 1 + 4 + 2 + 8 + 2);  // embedding; encoder's attention, net; decoder's two attentions, net
  }
}

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

TEST(Initialise, DrawsEveryRowOfATableWithoutZeroPadding) {
  auto config = small();
  config.zero_padding_embedding = false;
  const auto model = make_model(config, 50, 50);
  initialise(*model, config, 1);
  EXPECT_GT(model->output_weight()[0].abs().sum().item<double>(), 0);
}

}  // namespace
}  // namespace nmt
