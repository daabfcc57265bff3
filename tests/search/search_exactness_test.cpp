// The search against the plain one of reference_search.h: every rule, on scripted, Transformer and recurrent models.
#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <set>

#include "base/random.h"
#include "models/formula_weights.h"
#include "search/list_search.h"
#include "search/reference_search.h"
#include "search/scripted_model.h"

namespace nmt::search_exactness_test {
namespace {

using test::expect_equal;
using test::Ids;
using test::kA;
using test::kB;
using test::kC;
using test::logits_of;

constexpr int64_t kVocabulary = 8;
const std::string kTransformer = "d_model: 16, d_ff: 32, num_blocks: 2, num_heads: 2";
const std::string kRecurrent =
    "architecture: recurrent, d_model: 12, num_blocks: 1, attention_score: additive, tie_embeddings: none";

struct Rule {
  SearchOptions options = {};
  SearchInput wishes = {};
};

/// A penalty under which hypotheses gain by their length, so that it matters when the search ends.
SearchOptions longer(Stopping stopping) {
  return {{.beam_size = 2, .length_penalty = 1.5, .length_penalty_form = LengthPenalty::kSimple, .stopping = stopping},
          2};
}

/// Each rule alone, and some together.
const std::map<std::string, Rule>& rules() {
  static const std::map<std::string, Rule> kRules = {
      {"plain", {}},
      {"greedy", {{{.beam_size = 1}}}},
      {"n_best", {{{.beam_size = 5}, 5}}},
      {"optimal", {longer(Stopping::kOptimal)}},
      {"first", {longer(Stopping::kFirst)}},
      {"min_length", {{{.min_length = 4}, 3}}},
      {"max_length", {{{.max_length = 3}, 3}}},
      {"no_repeat_1", {{{.no_repeat_ngram_size = 1}, 3}}},
      {"no_repeat_2", {{{.min_length = 6, .no_repeat_ngram_size = 2}, 3}}},
      {"repetition", {{{.repetition_penalty = 1.7}, 3}}},
      {"ban_unknown", {{{.ban_unknown = true}, 3}}},
      {"banned", {{{}, 3, {{kA}, {kB, kC}, {kC, kC, kB}}}}},
      {"banned_here", {{{}, 3}, {.banned = {{kA, kA}, {kB}}}}},
      {"all_banned", {{{.min_length = 3, .ban_unknown = true}, 2, {{kA}, {kB}, {kC}, {7}}}}},
      {"groups", {{{.beam_size = 6, .diversity_groups = 3, .diversity_strength = 0.8}, 6}}},
      {"groups_of_one", {{{.beam_size = 3, .diversity_groups = 3, .diversity_strength = 3}, 3}}},
      {"prefix", {{{}, 3}, {.prefix = {kB, kB, 7}}}},
      {"prefix_and_ban", {{{}, 3, {{kB}}}, {.prefix = {kB, kB}}}},
      {"prefix_beyond_the_limit", {{{.max_length_ratio = 0, .max_length_offset = 2}}, {.prefix = {kB, kA, kC, kB}}}},
      {"prefix_to_the_end", {{{}, 2}, {.prefix = {kB, kA, test::kEnd}}}},
      {"phrase", {{{.beam_size = 6}, 4}, {.must_appear = {{kA, kB}}}}},
      {"phrases", {{{.beam_size = 8}, 4}, {.must_appear = {{kA, kA, kB}, {7}, {kB, kC}}}}},
      {"phrase_in_a_narrow_beam", {{{.beam_size = 1}}, {.must_appear = {{kC, kA}}}}},
      {"phrase_that_cannot_be", {{{}, 2, {{kC}}}, {.must_appear = {{kA, kC}}}}},
      {"groups_and_phrase", {{{.beam_size = 6, .diversity_groups = 2}, 3}, {.must_appear = {{kC}}}}},
      {"together",
       {{{.beam_size = 5, .min_length = 5, .no_repeat_ngram_size = 2, .repetition_penalty = 1.3, .ban_unknown = true},
         5,
         {{kC}}},
        {.prefix = {kA}, .must_appear = {{kB, kA}}}}},
  };
  return kRules;
}

std::vector<std::string> names() {
  std::vector<std::string> found;
  for (const auto& item : rules()) found.push_back(item.first);
  return found;
}

class SearchRule : public testing::TestWithParam<std::string> {
 protected:
  /// candidates: of the sentences in turn; none: the whole vocabulary.
  void expect_exact(TranslationModel& model, const test::Logits& logits, int64_t sentences, double tolerance,
                    const std::vector<Ids>& candidates = {}) {
    const c10::NoGradGuard no_gradients;
    auto [options, wishes] = rules().at(GetParam());
    options.max_length_ratio = std::min(options.max_length_ratio, 1.0);
    options.max_length_offset = std::min<int64_t>(options.max_length_offset, 5);
    std::vector<SearchInput> inputs;
    for (const auto& source : test::some_sources(9, sentences)) {
      inputs.push_back(wishes);
      inputs.back().sources = {source};
      if (!candidates.empty()) inputs.back().candidates = candidates[(inputs.size() - 1) % candidates.size()];
    }
    const SearchModel only{.model = &model};
    const auto found = search(std::span(&only, 1), inputs, options);
    for (size_t i = 0; i < inputs.size(); ++i) {
      const auto& input = inputs[i];
      std::set<int32_t> allowed(input.candidates.begin(), input.candidates.end());
      allowed.insert(input.prefix.begin(), input.prefix.end());
      for (const auto& phrase : input.must_appear) allowed.insert(phrase.begin(), phrase.end());
      expect_equal(
          found[i],
          test::reference_beam_search(candidates.empty() ? logits : test::with_only(logits, allowed), input, options),
          tolerance);
    }
  }
};

INSTANTIATE_TEST_SUITE_P(Rules, SearchRule, testing::ValuesIn(names()), [](const auto& info) { return info.param; });

TEST_P(SearchRule, EqualsThePlainSearch) {
  for (uint64_t seed = 0; seed < 4; ++seed) {
    const auto script = test::random_script(seed, kVocabulary);
    test::ScriptedModel model(kVocabulary, script);
    expect_exact(model, logits_of(script), 8, 1e-5);
  }
}

// The plain search takes a full pass for each hypothesis and step: what is cached equals what is not.
TEST_P(SearchRule, EqualsThePlainSearchWithATransformer) {
  const auto config = test::model_config(kTransformer);
  const auto model = test::formula_model(config, kVocabulary, kVocabulary);
  expect_exact(*model, logits_of(*model), 4, 1e-4);
}

TEST_P(SearchRule, EqualsThePlainSearchWithARecurrentModel) {
  const auto config = test::model_config(kRecurrent);
  const auto model = test::formula_model(config, kVocabulary, kVocabulary);
  expect_exact(*model, logits_of(*model), 4, 1e-4);
}

/// Sentences one after the other, which counts how many are under way.
class CountingQueue final : public SearchQueue {
 public:
  explicit CountingQueue(std::vector<SearchInput> inputs) : inputs_(std::move(inputs)), found(inputs_.size()) {}

  std::vector<Handle> take(int64_t count) override {
    std::vector<Handle> taken;
    joined += under_way_ > 0 && next_ < std::ssize(inputs_);
    for (; count > 0 && next_ < std::ssize(inputs_); --count, ++next_)
      taken.emplace_back(inputs_[next_], std::stop_token(), [this, place = next_](auto hypotheses) {
        --under_way_;
        found[place] = std::move(hypotheses.value());
      });
    under_way_ += std::ssize(taken);
    max = std::max(max, under_way_);
    return taken;
  }

 private:
  std::vector<SearchInput> inputs_;
  int64_t next_ = 0, under_way_ = 0;

 public:
  std::vector<std::vector<Hypothesis>> found;
  int64_t max = 0, joined = 0;
};

// Sentences join others that are half done and outlive them.
TEST_P(SearchRule, ASentenceDoesNotDependOnThoseUnderWay) {
  const c10::NoGradGuard no_gradients;
  const auto model = test::formula_model(test::model_config(kTransformer), kVocabulary, kVocabulary);
  const SearchModel only{.model = model.get()};
  const auto& [options, wishes] = rules().at(GetParam());
  std::vector<SearchInput> inputs;
  for (const auto& source : test::some_sources(9, 30)) {
    inputs.push_back(wishes);
    inputs.back().sources = {source};
  }
  for (const int64_t batch_size : {1, 4, 16}) {
    CountingQueue queue(inputs);
    search(std::span(&only, 1), queue, batch_size, options);
    EXPECT_EQ(queue.max, batch_size);
    EXPECT_EQ(queue.joined > 0, batch_size > 1);
    for (size_t i = 0; i < inputs.size(); ++i)
      expect_equal(queue.found[i], search(std::span(&only, 1), std::span(inputs).subspan(i, 1), options).front(),
                   1e-10);
  }
}

// Each sentence has a vocabulary of its own, whatever the others in its batch have.
TEST_P(SearchRule, WithCandidatesEqualsThePlainSearchOverThem) {
  for (const auto& config : {test::model_config(kTransformer), test::model_config(kRecurrent)}) {
    const auto model = test::formula_model(config, kVocabulary, kVocabulary);
    expect_exact(*model, logits_of(*model), 6, 1e-4, {{kA, kC}, {kB, 7}, {kA, kB, kC, 7}});
  }
}

// Vocabulary 6, 4 tokens: 1 + 3 + 9 + 27 translations, and the beam holds every live hypothesis.
TEST(SearchExactness, AWideBeamFindsTheBestOfAllTranslations) {
  const c10::NoGradGuard no_gradients;
  for (const auto& options : {kTransformer, kRecurrent}) {
    const auto model = test::formula_model(test::model_config(options), 6, 6);
    const SearchOptions wide{{.beam_size = 200, .max_length_ratio = 0, .max_length_offset = 4}, 5};
    for (const Ids& source : {Ids{4, 5}, Ids{5}, Ids{}}) {
      auto expected = test::enumerate_all(logits_of(*model), source, wide);
      ASSERT_EQ(expected.size(), 40u);
      expected.resize(5);
      expect_equal(search(*model, {source}, wide).front(), expected, 1e-4);
    }
  }
}

// A translation scored by forcing it gets what the search gave it, whatever the weights are held in.
TEST(SearchExactness, ForcedScoresAreThoseOfTheSearchInEveryPrecision) {
  const c10::NoGradGuard no_gradients;
  for (const auto& options : {kTransformer, kRecurrent}) {
    for (const auto format :
         {kernels::WeightFormat::kFloat32, kernels::WeightFormat::kBfloat16, kernels::WeightFormat::kInt8}) {
      const auto model = test::formula_model(test::model_config(options), kVocabulary, kVocabulary);
      model->set_packing({.format = format});
      const auto sources = test::some_sources(4, 12);
      const auto found = search(*model, sources, {{}, 4});
      std::vector<SearchInput> forced;
      std::vector<Hypothesis> expected;
      for (size_t i = 0; i < sources.size(); ++i)
        for (const auto& hypothesis : found[i]) {
          if (!hypothesis.finished) continue;
          forced.push_back({.sources = {sources[i]}, .prefix = hypothesis.ids});
          forced.back().prefix.push_back(test::kEnd);
          expected.push_back(hypothesis);
        }
      ASSERT_GT(forced.size(), 10u);
      const SearchModel only{.model = model.get()};
      const auto scored = search(std::span(&only, 1), forced, {{.beam_size = 1}});
      for (size_t i = 0; i < forced.size(); ++i) expect_equal(scored[i], {expected[i]}, 1e-4);
    }
  }
}

TEST(SearchExactness, RulesMatter) {
  const auto script = test::random_script(0, kVocabulary);
  test::ScriptedModel model(kVocabulary, script);
  const SearchModel only{.model = &model};
  for (const auto& [name, rule] : rules()) {
    std::vector<SearchInput> plain, wished;
    for (const auto& source : test::some_sources(9, 20)) {
      plain.push_back({.sources = {source}});
      wished.push_back(rule.wishes);
      wished.back().sources = {source};
    }
    SearchOptions without{{.beam_size = rule.options.beam_size,
                           .length_penalty = rule.options.length_penalty,
                           .length_penalty_form = rule.options.length_penalty_form},
                          rule.options.n_best};
    const auto expected = search(std::span(&only, 1), plain, without);
    const auto found = search(std::span(&only, 1), wished, rule.options);
    bool same = true;
    for (size_t i = 0; i < found.size(); ++i) {
      same = same && found[i].size() == expected[i].size();
      for (size_t j = 0; same && j < found[i].size(); ++j) same = found[i][j].ids == expected[i][j].ids;
    }
    if (name == "plain" || name == "greedy" || name == "n_best") continue;
    EXPECT_FALSE(same) << name << " changes nothing: its test tests nothing";
  }
}

}  // namespace
}  // namespace nmt::search_exactness_test
