#include <gmock/gmock.h>

#include <cmath>

#include "base/error.h"
#include "models/formula_weights.h"
#include "search/list_search.h"
#include "search/reference_search.h"
#include "search/scripted_model.h"
#include "support.h"
#include "translation/word_tokenizer.h"

namespace nmt::ensemble_test {
namespace {

using test::Ids;

/// The models' distributions in one, in double precision. Model i reads source[i].
test::Script mixture(std::vector<test::Script> scripts, std::vector<double> weights, Combination combination) {
  return [=](const Ids& source, const Ids& prefix) {
    std::vector<double> together(8, combination == Combination::kLinear ? 0.0 : 1.0);
    for (size_t i = 0; i < scripts.size(); ++i) {
      const auto p = scripts[i](source, prefix);
      for (size_t id = 0; id < p.size(); ++id) {
        if (combination == Combination::kLinear) {
          together[id] += weights[i] * p[id];
        } else {
          together[id] *= std::pow(p[id], weights[i]);
        }
      }
    }
    return together;  // of the log-linear one the reference takes the sum to be 1
  };
}

TEST(Ensemble, CombinesDistributionsByWeight) {
  const auto a = test::random_script(1, 8), b = test::random_script(2, 8);
  test::ScriptedModel first(8, a), second(8, b);
  for (const auto combination : {Combination::kLinear, Combination::kLogLinear}) {
    const std::vector<SearchModel> models = {{.model = &first, .weight = 6}, {.model = &second, .weight = 2}};
    const SearchOptions options{{.combination = combination}, 3};
    const auto together = test::logits_of(mixture({a, b}, {0.75, 0.25}, combination));
    for (const auto& source : test::some_sources(1, 20)) {
      const SearchInput input{.sources = {source, source}};
      test::expect_equal(search(models, std::span(&input, 1), options).front(),
                         test::reference_beam_search(together, input, options));
    }
  }
}

TEST(Ensemble, OfAModelWithItselfIsThatModel) {
  test::ScriptedModel model(8, test::random_script(3, 8));
  const std::vector<SearchModel> twice = {{.model = &model}, {.model = &model}};
  for (const auto combination : {Combination::kLinear, Combination::kLogLinear}) {
    const SearchOptions options{{.combination = combination}, 4};
    const SearchInput input{.sources = {{4, 5}, {4, 5}}};
    test::expect_equal(search(twice, std::span(&input, 1), options).front(), search(model, {{4, 5}}, options).front());
  }
}

// The penalty divides what is positive, and of log-probabilities nothing is.
TEST(Ensemble, TheRepetitionPenaltyChangesEachModel) {
  const c10::NoGradGuard no_gradients;
  const auto model =
      test::formula_model(test::model_config("d_model: 16, d_ff: 32, num_blocks: 2, num_heads: 2"), 8, 8);
  const std::vector<SearchModel> once = {{.model = model.get()}}, twice = {{.model = model.get()}, once.front()};
  int64_t changed = 0;
  for (const auto& source : test::some_sources(5, 20)) {
    const SearchInput one{.sources = {source}}, two{.sources = {source, source}};
    const SearchOptions options{{.min_length = 5, .max_length = 8, .repetition_penalty = 1.8}};
    const SearchOptions free{{.min_length = 5, .max_length = 8}};
    for (const auto combination : {Combination::kLinear, Combination::kLogLinear}) {
      auto of_two = options;
      of_two.combination = combination;
      const auto expected = search(once, std::span(&one, 1), options).front();
      test::expect_equal(search(twice, std::span(&two, 1), of_two).front(), expected);
      changed += search(once, std::span(&one, 1), free).front().front().score != expected.front().score;
    }
  }
  EXPECT_GT(changed, 0);
}

TEST(Ensemble, EachModelReadsItsOwnSource) {
  // A model that repeats its source, which for the second one is in other ids.
  const test::Script copy = [](const Ids& source, const Ids& prefix) {
    std::vector<double> p(8, 0.01);
    p[prefix.size() < source.size() ? source[prefix.size()] : test::kEnd] = 1;
    return p;
  };
  const test::Script shifted = [&](const Ids& source, const Ids& prefix) {
    Ids back = source;
    for (auto& id : back) id -= 50;
    return copy(back, prefix);
  };
  test::ScriptedModel first(8, copy), second(8, shifted);
  const std::vector<SearchModel> models = {{.model = &first}, {.model = &second}};
  const std::vector<SearchInput> inputs = {{.sources = {{4, 5, 6}, {54, 55, 56}}}, {.sources = {{7}, {57}}}};
  const auto found = search(models, inputs, {});
  EXPECT_EQ(found[0].front().ids, (Ids{4, 5, 6}));
  EXPECT_EQ(found[1].front().ids, (Ids{7}));
}

TEST(Ensemble, MixesArchitectures) {
  const auto transformer_config = test::model_config("d_model: 16, d_ff: 32, num_blocks: 2, num_heads: 2");
  const auto recurrent_config = test::model_config(
      "architecture: recurrent, d_model: 12, num_blocks: 1, attention_score: additive, tie_embeddings: none");
  const auto transformer = test::formula_model(transformer_config, 8, 8),
             recurrent = test::formula_model(recurrent_config, 8, 8);
  const auto script_of = [](TranslationModel& model) -> test::Script {
    return [logits = test::logits_of(model)](const Ids& source, const Ids& prefix) {
      auto p = test::log_distribution(logits, source, prefix);
      for (double& x : p) x = std::exp(x);
      return p;
    };
  };
  const c10::NoGradGuard no_gradients;
  const std::vector<SearchModel> models = {{.model = transformer.get()}, {.model = recurrent.get()}};
  const auto together =
      test::logits_of(mixture({script_of(*transformer), script_of(*recurrent)}, {0.5, 0.5}, Combination::kLinear));
  for (const auto& source : test::some_sources(2, 5)) {
    const SearchInput input{.sources = {source, source}};
    const SearchOptions options{{.max_length_ratio = 1, .max_length_offset = 4}, 2};
    test::expect_equal(search(models, std::span(&input, 1), options).front(),
                       test::reference_beam_search(together, input, options), 1e-4);
  }
}

TEST(Ensemble, NeedsOneTargetVocabulary) {
  const auto loaded = [](const std::string& directory, const std::vector<std::string>& words) {
    return ReadyModel{{.config = {}, .codec = test::word_codec(words), .summary = {}, .directory = directory}, nullptr};
  };
  const std::vector<ReadyModel> same = {loaded("a", {"x", "y"}), loaded("b", {"x", "y"})};
  EXPECT_NO_THROW(require_one_target(same));
  const std::vector<ReadyModel> longer = {same[0], same[1], loaded("c", {"x", "y", "z"})};
  EXPECT_EQ(
      test::message_of<Error>([&] { require_one_target(longer); }),
      "a and c: an ensemble needs one target vocabulary, but they have 6 and 7 pieces; take models trained on the "
      "same prepared data");
  const std::vector<ReadyModel> other = {same[0], loaded("d", {"x", "w"})};
  EXPECT_EQ(test::message_of<Error>([&] { require_one_target(other); }),
            "a and d: an ensemble needs one target vocabulary, but piece 5 is 'y' and 'w'; take models trained on the "
            "same prepared data");
}

}  // namespace
}  // namespace nmt::ensemble_test
