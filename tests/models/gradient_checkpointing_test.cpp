// Checkpointed models against the same ones without: losses, gradients, memory.
#include "nn/layers/gradient_checkpointing.h"

#include <ATen/Parallel.h>
#include <gtest/gtest.h>

#include <map>

#include "models/formula_weights.h"
#include "models/loss.h"
#include "models/model_directory.h"
#include "models/tiny_batch.h"
#include "models/transformer/transformer_forms.h"
#include "nn/device/cpu_allocator.h"
#include "tensor_support.h"

namespace nmt::gradient_checkpointing_test {
namespace {

using test::batch_of;
using test::model_config;

constexpr int64_t kVocabulary = 30;

std::map<std::string, ModelConfig> forms() {
  auto all = test::transformer_forms();
  for (auto& item : all) item.second.dropout_rate = 0.3;
  const std::string recurrent =
      "architecture: recurrent, d_model: 16, num_blocks: 2, dropout_rate: 0.3, tie_embeddings: none, ";
  all["bahdanau"] = model_config(recurrent + "attention_score: additive, cell: gru, readout: maxout");
  all["luong"] = model_config(recurrent +
                              "attention_score: general, cell: lstm, decoder_order: luong, readout: tanh, "
                              "encoder_size: 8, initial_state: copy");
  all["elman"] =
      model_config(recurrent + "attention_score: none, cell: elman, bidirectional: false, initial_state: last");
  return all;
}

/// Loss and gradients of two batches, added up.
struct Outcome {
  std::vector<double> losses;
  std::map<std::string, torch::Tensor> gradients;
};

Outcome outcome(const ModelConfig& config, bool checkpoints, at::ScalarType type = torch::kFloat32) {
  const auto model = make_model(config, kVocabulary, kVocabulary);
  initialise(*model, config, 1);
  model->set_compute_type(type);
  set_gradient_checkpointing(*model, checkpoints);
  Outcome outcome;
  const std::vector<Batch> batches = {batch_of({{{5, 6, 7, 8}, {9, 4, 6}}, {{7, 9}, {5, 5, 11, 7}}}),
                                      batch_of({{{4, 20}, {8}}})};
  for (size_t i = 0; i < batches.size(); ++i) {
    ForwardContext pass(5, 3, static_cast<int64_t>(i));
    const auto sums = smoothed_cross_entropy(*model, to_tensors(batches[i], torch::kCPU), pass, 0.1);
    sums.loss.backward();
    outcome.losses.push_back(sums.loss.item<double>());
  }
  for (const auto& [name, parameter] : named_parameters(*model)) outcome.gradients[name] = parameter.grad();
  return outcome;
}

class GradientCheckpointing : public ::testing::Test {
 protected:
  void SetUp() override { at::set_num_threads(1); }
  void TearDown() override { at::set_num_threads(threads_); }
  const int threads_ = at::get_num_threads();
};

TEST_F(GradientCheckpointing, GivesTheBitsOfEveryForm) {
  for (const auto& [name, config] : forms())
    for (const auto type : {torch::kFloat32, torch::kBFloat16}) {
      if (type == torch::kBFloat16 && name != "vaswani" && name != "grouped" && name != "luong") continue;
      SCOPED_TRACE(name + (type == torch::kFloat32 ? "" : ", bf16"));
      const auto expected = outcome(config, false, type), found = outcome(config, true, type);
      EXPECT_EQ(found.losses, expected.losses);
      for (const auto& [parameter, gradient] : expected.gradients) {
        ASSERT_EQ(found.gradients.at(parameter).defined(), gradient.defined()) << parameter;
        if (!gradient.defined()) continue;
        // DeBERTa's table, which all layers share and each reads twice: its sum has another order.
        if (name == "deberta" && parameter.ends_with("positions.weight"))
          test::expect_close(found.gradients.at(parameter), gradient, 1e-5, parameter);
        else
          EXPECT_TRUE(found.gradients.at(parameter).equal(gradient)) << parameter;
      }
    }
}

// The forward pass of an evaluation, and one that records attention, are as they were.
TEST_F(GradientCheckpointing, LeavesAttentionAsItIs) {
  const auto config = forms().at("vaswani");
  const auto batch = to_tensors(batch_of({{{5, 6, 7, 8}, {9, 4, 6}}}), torch::kCPU);
  std::vector<std::vector<AttentionMap>> maps;
  for (const bool checkpoints : {false, true}) {
    const auto model = make_model(config, kVocabulary, kVocabulary);
    initialise(*model, config, 1);
    set_gradient_checkpointing(*model, checkpoints);
    maps.push_back(model->attention_maps(batch));
    ForwardContext pass(1, 1, 0);
    std::vector<AttentionMap> recorded;
    pass.record_attention([&](const AttentionMap& map) { recorded.push_back(map); }, "decoder.1.cross");
    model->forward(batch, pass).sum().backward();
    ASSERT_EQ(recorded.size(), 1U);
    EXPECT_TRUE(recorded[0].weights.requires_grad());
  }
  ASSERT_EQ(maps[0].size(), maps[1].size());
  for (size_t i = 0; i < maps[0].size(); ++i) EXPECT_TRUE(maps[0][i].weights.equal(maps[1][i].weights));
}

TEST_F(GradientCheckpointing, TakesLessMemory) {
  reuse_freed_tensors();
  const auto most = [](const ModelConfig& config, bool checkpoints, int64_t blocks = 0) {
    const auto model = make_model(config, kVocabulary, kVocabulary);
    initialise(*model, config, 1);
    set_gradient_checkpointing(*model, checkpoints, blocks);
    const std::vector<int64_t> words(39, 7);
    const auto batch = to_tensors(batch_of(std::vector<test::Pair>(24, {words, words})), torch::kCPU);
    ForwardContext pass(1, 1, 0);
    measure_tensors_anew();
    const int64_t before = most_tensor_bytes_in_use();
    smoothed_cross_entropy(*model, batch, pass, 0.1).loss.backward();
    return static_cast<double>(most_tensor_bytes_in_use() - before);
  };
  const auto transformer = model_config("d_model: 64, d_ff: 256, num_blocks: 6, num_heads: 4, dropout_rate: 0.1");
  const double all = most(transformer, true), none = most(transformer, false), half = most(transformer, true, 3);
  EXPECT_LT(all, 0.4 * none);
  EXPECT_NEAR(half, (all + none) / 2, 0.1 * none);
  const auto recurrent = model_config(
      "architecture: recurrent, tie_embeddings: none, d_model: 64, encoder_blocks: 8, decoder_blocks: 1, "
      "attention_score: additive");
  EXPECT_LT(most(recurrent, true), 0.7 * most(recurrent, false));
}

}  // namespace
}  // namespace nmt::gradient_checkpointing_test
