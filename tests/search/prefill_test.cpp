// Forced beginnings are fed at once: what is found has the bits that single steps find.
#include <gtest/gtest.h>

#include <array>
#include <memory>
#include <string>
#include <vector>

#include "models/formula_weights.h"
#include "nn/device/cpu_kernels.h"
#include "search/list_search.h"
#include "search/reference_search.h"
#include "search/scripted_model.h"

namespace nmt::prefill_test {
namespace {

using test::Ids;
using test::kA;
using test::kB;
using test::kC;

constexpr int64_t kVocabulary = 8;

std::vector<std::vector<Hypothesis>> search_one(TranslationModel& model, const std::vector<SearchInput>& inputs,
                                                const SearchOptions& options) {
  const SearchModel only{.model = &model};
  return search(std::span(&only, 1), inputs, options);
}

void expect_same_bits(const std::vector<std::vector<Hypothesis>>& found,
                      const std::vector<std::vector<Hypothesis>>& expected, const std::string& what) {
  ASSERT_EQ(found.size(), expected.size());
  for (size_t i = 0; i < found.size(); ++i) {
    ASSERT_EQ(found[i].size(), expected[i].size()) << what << " sentence " << i;
    for (size_t rank = 0; rank < found[i].size(); ++rank) {
      EXPECT_EQ(found[i][rank].ids, expected[i][rank].ids) << what << " sentence " << i;
      EXPECT_EQ(found[i][rank].score, expected[i][rank].score) << what << " sentence " << i;
      EXPECT_EQ(found[i][rank].token_log_probabilities, expected[i][rank].token_log_probabilities) << what;
    }
  }
}

TEST(Prefill, FeedsWhatAllSentencesBeginWith) {
  const auto script = test::random_script(3, kVocabulary);
  const auto tokens_fed_at_once = [&](const std::vector<Ids>& prefixes) {
    std::vector<SearchInput> inputs;
    for (const Ids& prefix : prefixes) inputs.push_back({.sources = {Ids{kA, kC}}, .prefix = prefix});
    test::ScriptedModel single(kVocabulary, script), several(kVocabulary, script);
    several.prefills = true;
    const SearchOptions options{{.beam_size = 3}, 3};
    expect_same_bits(search_one(several, inputs, options), search_one(single, inputs, options), "script");
    EXPECT_TRUE(single.prefilled.empty());
    return several.prefilled;
  };
  EXPECT_EQ(tokens_fed_at_once({{kB, kA, kC}}), (std::vector<int64_t>{3})) << "<s> and two of them";
  EXPECT_EQ(tokens_fed_at_once({{kB, kA, kC, kA, kA}, {kA, kA}, {kB, kB, kB}}), (std::vector<int64_t>{2}));
  EXPECT_EQ(tokens_fed_at_once({{kB, kA, test::kEnd}}), (std::vector<int64_t>{2})) << "the end is not fed";
  EXPECT_EQ(tokens_fed_at_once({{kB}}), std::vector<int64_t>()) << "one token is no more than a step";
  EXPECT_EQ(tokens_fed_at_once({{kB, kA}, {}}), std::vector<int64_t>());
}

TEST(Prefill, FeedsLongBeginningsInBlocks) {
  const auto script = test::random_script(3, kVocabulary);
  test::ScriptedModel single(kVocabulary, script), several(kVocabulary, script);
  several.prefills = true;
  Ids prefix;
  for (int i = 0; i < 70; ++i) prefix.push_back(i % 3 == 0 ? kB : kA);
  const std::vector<SearchInput> inputs = {{.sources = {Ids{kA, kC}}, .prefix = prefix}};
  const SearchOptions options{{.beam_size = 3}, 3};
  expect_same_bits(search_one(several, inputs, options), search_one(single, inputs, options), "script");
  EXPECT_EQ(several.prefilled, (std::vector<int64_t>{32, 32, 6}));
}

void expect_dropped_after(const Ids& prefix, const std::vector<int64_t>& prefilled) {
  test::ScriptedModel model(kVocabulary, test::random_script(3, kVocabulary));
  model.prefills = true;
  const std::vector<SearchInput> inputs = {{.sources = {Ids{kA, kC}}, .prefix = prefix},
                                           {.sources = {Ids{kB}}, .prefix = prefix}};
  std::stop_source client;
  client.request_stop();
  ListQueue<SearchInput, std::vector<Hypothesis>> queue(inputs, client.get_token());
  const SearchModel only{.model = &model};
  search(std::span(&only, 1), queue, 2, {{.beam_size = 3}});
  EXPECT_EQ(model.prefilled, prefilled);
  for (const auto& found : queue.results()) EXPECT_FALSE(found);
}

TEST(Prefill, WhatIsCancelledIsDropped) { expect_dropped_after({kB, kA, kC, kA, kA}, {5}); }

TEST(Prefill, WhatIsCancelledIsNotFedToItsEnd) { expect_dropped_after(Ids(1000, kA), {32}); }

/// A model that says it cannot be fed several tokens at once.
class SingleSteps final : public TranslationModel {
 public:
  explicit SingleSteps(TranslationModel& inner) : inner_(inner) {}
  torch::Tensor forward(const TensorBatch& batch, ForwardContext& pass) override { return inner_.forward(batch, pass); }
  torch::Tensor output_weight() const override { return inner_.output_weight(); }
  torch::Tensor output_bias() const override { return inner_.output_bias(); }
  std::unique_ptr<DecoderState> start(const torch::Tensor& source, const torch::Tensor& lengths) override {
    return inner_.start(source, lengths);
  }
  torch::Tensor step(DecoderState& state, const torch::Tensor& tokens, StepLogits which) override {
    TORCH_CHECK(tokens.dim() == 1 || tokens.size(1) == 1, "single steps were asked for");
    return inner_.step(state, tokens, which);
  }
  DecodingCapabilities capabilities() const override {
    auto all = inner_.capabilities();
    all.exact_prefill = false;
    return all;
  }
  int64_t target_vocabulary() const override { return inner_.target_vocabulary(); }
  void finish_gradients() override {}
  void set_compute_type(at::ScalarType) override {}
  at::ScalarType compute_type() const override { return inner_.compute_type(); }

 private:
  TranslationModel& inner_;
};

/// Sentences with forced beginnings of 0 to 6 tokens.
std::vector<SearchInput> forced_inputs() {
  std::vector<SearchInput> inputs;
  const auto sources = test::some_sources(9, 40);
  for (size_t i = 0; i < sources.size(); ++i) {
    inputs.push_back({.sources = {sources[i], sources[i]}});  // for one model or two
    // Neighbours begin with as many tokens: they start together.
    for (size_t token = 0; token < i / 4 * 5 % 7; ++token)
      inputs.back().prefix.push_back(static_cast<int32_t>(kA + (i + token * token) % 4));
  }
  return inputs;
}

TEST(Prefill, LeavesTheBitsOfSingleSteps) {
  const c10::NoGradGuard no_gradients;
  const ThreadLimit one(1);  // steps of microseconds: two threads wait for each other most of the time
  const auto inputs = forced_inputs();
  for (const char* options :
       {"d_model: 16, d_ff: 32, num_blocks: 2, num_heads: 2",
        "d_model: 16, d_ff: 32, num_blocks: 2, num_heads: 2, positions: rotary, key_value_heads: 1",
        "d_model: 16, d_ff: 32, num_blocks: 2, num_heads: 2, positions: shaw",
        "d_model: 16, d_ff: 32, num_blocks: 2, num_heads: 2, positions: recurrent, decoder_mixer: average",
        "d_model: 16, d_ff: 32, num_blocks: 2, num_heads: 2, decoder_mixer: ssru",
        "architecture: recurrent, d_model: 12, num_blocks: 1, attention_score: additive, tie_embeddings: none"}) {
    const auto model = test::formula_model(test::model_config(options), kVocabulary, kVocabulary);
    for (const auto format :
         {kernels::WeightFormat::kFloat32, kernels::WeightFormat::kBfloat16, kernels::WeightFormat::kInt8}) {
      model->set_packing({.format = format});
      ASSERT_TRUE(model->capabilities().exact_prefill) << options;
      SingleSteps single(*model);
      for (const SearchOptions& how :
           {SearchOptions{{.beam_size = 1}}, SearchOptions{{.beam_size = 4}, 4},
            SearchOptions{{.beam_size = 4, .repetition_penalty = 1.4, .diversity_groups = 2}, 4},
            SearchOptions{{.beam_size = 1, .sampling = true, .seed = 5}, 3}}) {
        const auto translate = [&](TranslationModel& with) {
          const std::vector<SearchModel> pair{{.model = &with}, {.model = &with}};
          ListQueue<SearchInput, std::vector<Hypothesis>> queue(inputs);
          search(std::span(pair).first(how.beam_size == 4 && how.diversity_groups == 1 ? 2 : 1), queue, 9, how);
          std::vector<std::vector<Hypothesis>> results;
          for (auto& found : queue.results()) results.push_back(std::move(found.value()));
          return results;
        };
        expect_same_bits(translate(*model), translate(single), options);
      }
    }
  }
}

}  // namespace
}  // namespace nmt::prefill_test
