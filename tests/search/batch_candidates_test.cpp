#include "search/batch_candidates.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numeric>

#include "models/formula_weights.h"
#include "search/list_search.h"
#include "search/reference_search.h"
#include "search/step_scores.h"

namespace nmt::batch_candidates_test {
namespace {

using kernels::WeightFormat;
using test::Ids;

constexpr int64_t kVocabulary = 150;
constexpr WeightFormat kFormats[] = {WeightFormat::kFloat32, WeightFormat::kBfloat16, WeightFormat::kInt8};
const char* const kModels[] = {
    "d_model: 16, d_ff: 32, num_blocks: 1, num_heads: 2, output_bias: true",
    "architecture: recurrent, d_model: 12, num_blocks: 1, attention_score: additive, tie_embeddings: none"};

/// Sentences of 1 to 9 pieces; each third piece of the vocabulary and some of its own are candidates of a sentence.
std::vector<SearchInput> some_inputs(int count) {
  std::vector<SearchInput> inputs;
  for (int i = 0; i < count; ++i) {
    auto& input = inputs.emplace_back();
    Ids source;
    for (int k = 0; k <= i * 7 % 9; ++k) source.push_back(4 + (i * 31 + k * 17) % (kVocabulary - 4));
    input.sources = {source};
    for (int32_t id = 4 + i % 3; id < kVocabulary; id += 3 + i % 5) input.candidates.push_back(id);
  }
  return inputs;
}

std::vector<std::vector<Hypothesis>> in_batches(std::span<const SearchModel> models,
                                                std::span<const SearchInput> inputs, const SearchOptions& options,
                                                size_t batch) {
  std::vector<std::vector<Hypothesis>> all;
  for (size_t first = 0; first < inputs.size(); first += batch)
    for (auto& found : search(models, inputs.subspan(first, std::min(batch, inputs.size() - first)), options))
      all.push_back(std::move(found));
  return all;
}

void expect_identical(const std::vector<std::vector<Hypothesis>>& found,
                      const std::vector<std::vector<Hypothesis>>& expected) {
  ASSERT_EQ(found.size(), expected.size());
  for (size_t i = 0; i < found.size(); ++i) {
    ASSERT_EQ(found[i].size(), expected[i].size()) << "sentence " << i;
    for (size_t k = 0; k < found[i].size(); ++k) {
      EXPECT_EQ(found[i][k].ids, expected[i][k].ids) << "sentence " << i;
      EXPECT_EQ(found[i][k].token_log_probabilities, expected[i][k].token_log_probabilities) << "sentence " << i;
      EXPECT_EQ(found[i][k].score, expected[i][k].score) << "sentence " << i;
    }
  }
}

class BatchCandidatesTest : public testing::Test {
 protected:
  const c10::NoGradGuard no_gradients_;
};

TEST_F(BatchCandidatesTest, AreThoseOfTheSentenceAndWhatItMustHold) {
  EXPECT_THAT(all_candidates({.candidates = {9, 12}}), testing::ElementsAre(0, 1, 2, 3, 9, 12));
  EXPECT_THAT(all_candidates({.prefix = {20, 3}, .must_appear = {{30, 31}}, .candidates = {5, 9}}),
              testing::ElementsAre(0, 1, 2, 3, 5, 9, 20, 30, 31));
}

// Bit for bit: columns and rows of other sentences are of no consequence.
TEST_F(BatchCandidatesTest, ASentenceDoesNotDependOnItsBatch) {
  const auto inputs = some_inputs(64);
  for (const char* config : kModels) {
    const auto model = test::formula_model(test::model_config(config), kVocabulary, kVocabulary);
    const SearchModel only{.model = model.get()};
    for (const auto format : kFormats) {
      model->set_packing({.format = format});
      const SearchOptions beam{{.max_length = 12}, 4}, greedy{{.beam_size = 1}},
          drawn{{.beam_size = 1, .max_length = 12, .sampling = true}, 2};
      for (const auto& options : {beam, greedy, drawn}) {
        const auto alone = in_batches({&only, 1}, inputs, options, 1);
        for (const size_t batch : {7, 64}) expect_identical(in_batches({&only, 1}, inputs, options, batch), alone);
        for (size_t i = 0; i < inputs.size(); ++i)
          for (const auto& hypothesis : alone[i])
            for (const int32_t id : hypothesis.ids)
              EXPECT_TRUE(id == SpecialIds::kUnknown || std::ranges::binary_search(inputs[i].candidates, id)) << id;
      }
    }
  }
}

TEST_F(BatchCandidatesTest, AreSharedByTheSentencesOfAGroup) {
  const std::vector<SearchInput> inputs = {{.candidates = {5, 9}}, {.candidates = {7, 9}}, {.candidates = {6}}};
  std::vector<const SearchInput*> all;
  for (const auto& input : inputs) all.push_back(&input);
  BatchCandidates pairs(all, 2);
  ASSERT_EQ(pairs.groups().size(), 2);
  EXPECT_THAT(pairs.groups()[0], testing::ElementsAre(0, 1, 2, 3, 5, 7, 9));
  EXPECT_THAT(pairs.groups()[1], testing::ElementsAre(0, 1, 2, 3, 6));
  EXPECT_THAT(pairs.sentences()[1].columns, testing::ElementsAre(0, 1, 2, 3, 5, 6));
  EXPECT_EQ(pairs.group_of(1), 0);
  EXPECT_EQ(pairs.group_of(2), 1);
  pairs.select(std::vector<int64_t>{0, 0, 2, 2, 2});
  const auto runs = pairs.runs();
  ASSERT_EQ(runs.size(), 2);
  EXPECT_EQ(runs[0].rows, 2);
  EXPECT_EQ(runs[1].first_row, 2);
  EXPECT_EQ(runs[1].rows, 3);
  EXPECT_EQ(runs[1].sentence, 2);
}

TEST_F(BatchCandidatesTest, TheWholeVocabularyChangesNothing) {
  auto inputs = some_inputs(20);
  for (auto& input : inputs) input.candidates.clear();
  auto listed = inputs;
  for (auto& input : listed) {
    input.candidates.resize(kVocabulary);
    std::iota(input.candidates.begin(), input.candidates.end(), 0);
  }
  for (const char* config : kModels) {
    const auto model = test::formula_model(test::model_config(config), kVocabulary, kVocabulary);
    const SearchModel only{.model = model.get()};
    for (const auto format : kFormats) {
      model->set_packing({.format = format});
      const SearchOptions options{{.repetition_penalty = 1.2}, 4};
      expect_identical(search({&only, 1}, listed, options), search({&only, 1}, inputs, options));
    }
  }
}

TEST_F(BatchCandidatesTest, NarrowTheSearch) {
  auto inputs = some_inputs(20);
  const auto model = test::formula_model(test::model_config(kModels[0]), kVocabulary, kVocabulary);
  const SearchModel only{.model = model.get()};
  const auto narrow = search({&only, 1}, inputs, {});
  for (auto& input : inputs) input.candidates.clear();
  const auto wide = search({&only, 1}, inputs, {});
  int other = 0;
  for (size_t i = 0; i < inputs.size(); ++i) other += narrow[i].front().ids != wide[i].front().ids;
  EXPECT_GT(other, 5);
}

TEST_F(BatchCandidatesTest, ModelsVoteOverTheSame) {
  auto inputs = some_inputs(30);
  for (auto& input : inputs) input.sources.push_back(input.sources.front());
  const auto a = test::formula_model(test::model_config(kModels[0]), kVocabulary, kVocabulary),
             b = test::formula_model(test::model_config(kModels[1]), kVocabulary, kVocabulary);
  const std::vector<SearchModel> both = {{.model = a.get()}, {.model = b.get()}};
  for (const auto combination : {Combination::kLinear, Combination::kLogLinear}) {
    const SearchOptions options{{.combination = combination}, 2};
    const auto alone = in_batches(both, inputs, options, 1);
    for (const size_t batch : {7, 64}) expect_identical(in_batches(both, inputs, options, batch), alone);
    const std::vector<SearchModel> twice = {{.model = a.get()}, {.model = a.get()}};
    const auto same = search(twice, inputs, options), once = search({both.data(), 1}, inputs, options);
    for (size_t i = 0; i < inputs.size(); ++i) test::expect_equal(same[i], once[i], 1e-4);
  }
}

// Where there are no packed weights: activations in bfloat16, or a GPU.
TEST_F(BatchCandidatesTest, TakePlainProducts) {
  const auto inputs = some_inputs(12);
  for (const char* config : kModels) {
    const auto model = test::formula_model(test::model_config(config), kVocabulary, kVocabulary);
    const SearchModel only{.model = model.get()};
    model->set_compute_type(torch::kBFloat16);
    for (const auto& found : search({&only, 1}, inputs, {})) EXPECT_FALSE(found.empty());
    auto listed = inputs, wide = inputs;
    for (size_t i = 0; i < inputs.size(); ++i) {
      listed[i].candidates.resize(kVocabulary);
      std::iota(listed[i].candidates.begin(), listed[i].candidates.end(), 0);
      wide[i].candidates.clear();
    }
    const auto found = search({&only, 1}, listed, {}), expected = search({&only, 1}, wide, {});
    for (size_t i = 0; i < inputs.size(); ++i) test::expect_equal(found[i], expected[i], 1e-5);
  }
}

}  // namespace
}  // namespace nmt::batch_candidates_test
