// The step without LibTorch finds, bit for bit, what that of LibTorch finds.
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "models/formula_weights.h"
#include "models/search/model_group.h"
#include "search/list_search.h"
#include "search/plain_step.h"
#include "search/reference_search.h"

namespace nmt::plain_model_test {
namespace {

using kernels::WeightFormat;
using test::Ids;

constexpr int64_t kVocabulary = 90;
constexpr WeightFormat kFormats[] = {WeightFormat::kFloat32, WeightFormat::kBfloat16, WeightFormat::kInt8};

std::vector<SearchInput> some_inputs(int count) {
  std::vector<SearchInput> inputs;
  for (int i = 0; i < count; ++i) {
    auto& input = inputs.emplace_back();
    Ids source;
    for (int k = 0; k < i * 7 % 11; ++k) source.push_back(4 + (i * 31 + k * 17) % (kVocabulary - 4));
    input.sources = {source};
    input.number = i;
  }
  return inputs;
}

std::vector<std::vector<Hypothesis>> found_by(DecodingModel& model, std::span<const SearchInput> inputs,
                                              const SearchOptions& options, int64_t batch_size) {
  ListQueue<SearchInput, std::vector<Hypothesis>> queue(inputs);
  search(model, queue, batch_size, options);
  std::vector<std::vector<Hypothesis>> results;
  for (auto& found : queue.results()) results.push_back(std::move(found.value()));
  return results;
}

class PlainModelTest : public testing::Test {
 protected:
  /// Searches with both steps in batches of 6, whose sentences join others.
  void expect_same(TranslationModel& model, std::span<const SearchInput> inputs, const SearchOptions& options,
                   const std::string& what) {
    const SearchModel only{.model = &model, .source_form = form_};
    TorchModels by_torch(std::span(&only, 1));
    const auto plain = make_decoding_model(std::span(&only, 1), model.inference_weights());
    EXPECT_TRUE(by_torch.joins() && by_torch.exact_blocks()) << what;
    const auto expected = found_by(by_torch, inputs, options, 6), found = found_by(*plain, inputs, options, 6);
    for (size_t i = 0; i < inputs.size(); ++i) {
      ASSERT_EQ(found[i].size(), expected[i].size()) << what << ", sentence " << i;
      for (size_t k = 0; k < found[i].size(); ++k) {
        EXPECT_EQ(found[i][k].ids, expected[i][k].ids) << what << ", sentence " << i;
        EXPECT_EQ(found[i][k].token_log_probabilities, expected[i][k].token_log_probabilities)
            << what << ", sentence " << i;
        EXPECT_EQ(found[i][k].score, expected[i][k].score) << what << ", sentence " << i;
        EXPECT_EQ(found[i][k].attention, expected[i][k].attention) << what << ", sentence " << i;
      }
    }
  }

  std::shared_ptr<TranslationModel> model_of(const std::string& config) {
    return test::formula_model(test::model_config(config), kVocabulary, kVocabulary);
  }

  SourceForm form_;
  const c10::NoGradGuard no_gradients_;
};

const std::string kSmall = "d_model: 16, d_ff: 32, num_blocks: 2, num_heads: 2";

TEST_F(PlainModelTest, ComputesEveryFormOfATransformer) {
  const SearchOptions beam{{.beam_size = 3, .max_length = 14}, 2};
  for (const char* form :
       {"norm: post", "norm: pre", "norm: pre, final_norm: false, positions: learned", "norm: pre, positions: rotary",
        "norm: pre, positions: none, norm_form: rms", "tie_embeddings: none, output_bias: true",
        "tie_embeddings: target, attention_bias: false", "attention_output_projection: false, qkv_activation: relu",
        "activation: swiglu", "activation: gelu", "activation: geglu_tanh", "key_value_heads: 1, positions: rotary",
        "decoder_mixer: average", "norm: pre, decoder_mixer: average, activation: swish", "decoder_mixer: ssru",
        "norm: pre, decoder_mixer: ssru, encoder_blocks: 3, decoder_blocks: 1", "deep_init: deepnet",
        "sinusoid: half_split"}) {
    const auto model = model_of(kSmall + ", " + form);
    for (const auto format : kFormats) {
      model->set_packing({.format = format});
      expect_same(*model, some_inputs(20), beam, form + std::string(", format ") + std::to_string(int(format)));
    }
  }
}

TEST_F(PlainModelTest, SearchesInEveryWay) {
  auto inputs = some_inputs(20), prefixed = inputs, constrained = inputs, listed = inputs, distinct = inputs;
  for (size_t i = 0; i < inputs.size(); ++i) {
    prefixed[i].prefix.assign(2 + i % 3, static_cast<int32_t>(5 + i));
    if (i % 4 == 0) constrained[i].prefix = {7};
    constrained[i].must_appear = {{static_cast<int32_t>(10 + i), 11}};
    constrained[i].banned = {{static_cast<int32_t>(20 + i % 5)}};
    for (int32_t id = 4 + static_cast<int32_t>(i % 3); id < kVocabulary; id += 3 + static_cast<int32_t>(i % 5))
      listed[i].candidates.push_back(id);
    distinct[i].distinct = true;
  }
  std::vector<SearchInput> listed_and_prefixed = listed;
  for (size_t i = 0; i < inputs.size(); ++i) listed_and_prefixed[i].prefix = prefixed[i].prefix;
  const SearchOptions greedy{{.beam_size = 1, .max_length = 14}}, beam{{.beam_size = 4, .max_length = 14}, 4};
  SearchOptions diverse = beam, drawn = greedy, ruled = beam, attentive = beam;
  diverse.diversity_groups = 2;
  drawn.sampling = true;
  drawn.n_best = 2;
  drawn.top_k = 20;
  ruled.no_repeat_ngram_size = 2;
  ruled.repetition_penalty = 1.2;
  ruled.ban_unknown = true;
  ruled.min_length = 3;
  ruled.banned = {{12, 13}, {14}};
  attentive.attention = true;
  attentive.coverage_penalty = 0.2;
  const auto model = model_of(kSmall + ", output_bias: true");
  for (const auto format : kFormats) {
    model->set_packing({.format = format});
    for (const auto& options : {greedy, beam, diverse, drawn, ruled, attentive})
      for (const auto* own : {&inputs, &prefixed, &listed, &listed_and_prefixed})
        expect_same(*model, *own, options, "beam " + std::to_string(options.beam_size));
    expect_same(*model, constrained, beam, "phrases");
    expect_same(*model, distinct, beam, "distinct beginnings");
  }
  form_ = {SourceMarkers::kBoth, /*reversed=*/true};
  expect_same(*model, inputs, beam, "both markers, last to first");
}

// Threads share the panels of a few rows and the rows of many.
// Copies of the weights of all candidates would be too large: sentences share them.
TEST_F(PlainModelTest, SharesLongListsOfCandidates) {
  constexpr int64_t kMany = 3500;
  auto inputs = some_inputs(6);
  for (size_t i = 0; i < inputs.size(); ++i)
    for (int32_t id = 4 + static_cast<int32_t>(i % 2); id < kMany; id += 2) inputs[i].candidates.push_back(id);
  const auto model =
      test::formula_model(test::model_config("d_model: 512, d_ff: 32, num_blocks: 1, num_heads: 2"), kMany, kMany);
  model->set_packing({.format = WeightFormat::kFloat32});
  expect_same(*model, inputs, {{.beam_size = 2, .max_length = 6}, 2}, "long lists");
}

TEST_F(PlainModelTest, ComputesWithSeveralThreads) {
  const auto model = model_of("d_model: 128, d_ff: 512, num_blocks: 1, num_heads: 4, activation: gelu");
  for (const auto format : kFormats) {
    model->set_packing({.format = format});
    expect_same(*model, some_inputs(40), {{.beam_size = 12, .max_length = 20}, 3}, "threads");
  }
}

// Hypotheses that leave and positions that nobody has any more make place for others.
TEST_F(PlainModelTest, KeepsLongHypothesesApart) {
  const auto model = model_of(kSmall);
  expect_same(*model, some_inputs(30), {{.beam_size = 5, .min_length = 120, .max_length = 150}, 5}, "long");
}

TEST_F(PlainModelTest, LeavesTheUnusualToLibTorch) {
  const auto is_plain = [&](std::span<const SearchModel> models) {
    const auto found = make_decoding_model(models, plain_weights(models));
    return dynamic_cast<PlainModel*>(found.get()) != nullptr;
  };
  const auto usual = model_of(kSmall);
  const std::vector<SearchModel> two = {{.model = usual.get()}, {.model = usual.get()}};
  EXPECT_TRUE(is_plain(std::span(two).first(1)));
  EXPECT_FALSE(is_plain(two)) << "an ensemble";
  for (const char* form : {"positions: t5", "positions: alibi", "positions: hierarchical", "positions: product",
                           "positions: convolution", "attention_score: cosine", "attention_normalization: none"}) {
    const auto model = model_of(kSmall + ", " + form);
    const SearchModel only{.model = model.get()};
    EXPECT_FALSE(is_plain(std::span(&only, 1))) << form;
  }
  const auto recurrent =
      model_of("architecture: recurrent, d_model: 12, num_blocks: 1, attention_score: additive, tie_embeddings: none");
  const SearchModel only{.model = recurrent.get()};
  EXPECT_FALSE(is_plain(std::span(&only, 1)));
  usual->set_compute_type(torch::kBFloat16);
  EXPECT_FALSE(is_plain(std::span(two).first(1))) << "activations in bfloat16";
  usual->set_compute_type(torch::kFloat32);
  usual->set_cache_form(CacheForm::kPlain);
  EXPECT_FALSE(is_plain(std::span(two).first(1))) << "a cache of tensors";
}

TEST_F(PlainModelTest, RefusesWhatDoesNotFitItsPositions) {
  const auto model = model_of(kSmall + ", positions: learned, max_positions: 9");
  const SearchModel only{.model = model.get()};
  const auto plain = make_decoding_model(std::span(&only, 1), model->inference_weights());
  const std::vector<SearchInput> inputs = {{.sources = {Ids(12, 5)}}};
  EXPECT_THROW(found_by(*plain, inputs, {{.beam_size = 1}}, 1), Error);
}

}  // namespace
}  // namespace nmt::plain_model_test
