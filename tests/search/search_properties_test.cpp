// What holds of every search, on random scripts.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "search/list_search.h"
#include "search/reference_search.h"
#include "search/scripted_model.h"

namespace nmt::search_properties_test {
namespace {

using test::expect_equal;
using test::Ids;
using test::logits_of;
using test::some_sources;

std::vector<Hypothesis> search_one(test::ScriptedModel& model, const SearchOptions& options, const Ids& source = {9}) {
  return search(model, {source}, options).at(0);
}

std::vector<Hypothesis> search_one(const test::Script& script, const SearchOptions& options) {
  test::ScriptedModel model(6, script);
  return search_one(model, options);
}

TEST(SearchProperties, BeamOneIsGreedy) {
  const auto script = test::random_script(1, 8);
  test::ScriptedModel model(8, script);
  for (const auto& source : some_sources(1, 100)) {
    for (const double alpha : {0.0, 0.6, 1.0}) {
      const SearchOptions options{{.beam_size = 1, .length_penalty = alpha, .max_length_ratio = 1}};
      expect_equal(search_one(model, options, source), {test::reference_greedy(logits_of(script), source, options)});
    }
  }
}

TEST(SearchProperties, AWideBeamFindsTheExactBest) {
  // Vocabulary 6, 4 tokens: 1 + 3 + 9 + 27 translations, and the beam holds every live hypothesis.
  for (uint64_t seed = 0; seed < 50; ++seed) {
    const auto script = test::random_script(seed, 6);
    for (const auto form : {LengthPenalty::kPaper, LengthPenalty::kSimple}) {
      const SearchOptions options{{.beam_size = 200,
                                   .length_penalty = 0.8,
                                   .length_penalty_form = form,
                                   .max_length_ratio = 0,
                                   .max_length_offset = 4},
                                  5};
      auto expected = test::enumerate_all(logits_of(script), {9}, options);
      ASSERT_EQ(expected.size(), 40u);
      expected.resize(5);
      expect_equal(search_one(script, options), expected);
    }
  }
}

TEST(SearchProperties, EqualsThePlainBeamSearch) {
  int64_t cut = 0, compared = 0;
  for (uint64_t seed = 0; seed < 10; ++seed) {
    const auto script = test::random_script(seed, 8);
    test::ScriptedModel model(8, script);
    for (const int64_t beam_size : {1, 2, 3, 5, 8}) {
      for (const double alpha : {0.0, 0.6, 1.5}) {
        const SearchOptions options{{.beam_size = beam_size,
                                     .length_penalty = alpha,
                                     .length_penalty_form = seed % 2 ? LengthPenalty::kPaper : LengthPenalty::kSimple,
                                     .max_length_ratio = 1.0,
                                     .max_length_offset = static_cast<int64_t>(seed % 4)},
                                    std::max<int64_t>(1, beam_size - 1)};
        const auto sources = some_sources(seed, 6);
        const auto found = search(model, sources, options);
        for (size_t i = 0; i < sources.size(); ++i) {
          const auto expected = test::reference_beam_search(logits_of(script), {.sources = {sources[i]}}, options);
          expect_equal(found[i], expected);
          cut += !expected.back().finished;
          ++compared;
        }
      }
    }
  }
  EXPECT_GT(cut, compared / 20) << "the length limit has to matter in some";
  EXPECT_LT(cut, compared / 2) << "and most have to end by themselves";
}

TEST(SearchProperties, ResultDoesNotDependOnTheBatch) {
  const auto script = test::random_script(3, 8);
  test::ScriptedModel model(8, script);
  const auto sources = some_sources(3, 40);
  const SearchOptions options{{.beam_size = 4}, 3};
  const auto together = search(model, sources, options);
  for (size_t i = 0; i < sources.size(); ++i) {
    const auto alone = search_one(model, options, sources[i]);
    ASSERT_EQ(together[i].size(), alone.size());
    for (size_t j = 0; j < alone.size(); ++j) {
      EXPECT_EQ(together[i][j].ids, alone[j].ids);
      EXPECT_EQ(together[i][j].score, alone[j].score) << "to the bit";
    }
  }
}

TEST(SearchProperties, NBestHypothesesAreDistinctAndInOrder) {
  test::ScriptedModel model(8, test::random_script(4, 8));
  for (const auto& source : some_sources(4, 20)) {
    const auto found = search_one(model, {{.beam_size = 6}, 6}, source);
    for (size_t i = 1; i < found.size(); ++i) {
      if (found[i].finished) {
        EXPECT_GE(found[i - 1].score, found[i].score);
      }
      for (size_t j = 0; j < i; ++j) {
        EXPECT_FALSE(found[i].ids == found[j].ids && found[i].finished == found[j].finished);
      }
    }
  }
}

// Two first words with flat continuations have more extensions than the beam takes; the other two continue all the
// same.
TEST(SearchProperties, DistinctHypothesesGoOnWithEachOfTheBestFirstTokens) {
  test::ScriptedModel model(8, [](const Ids&, const Ids& prefix) -> std::vector<double> {
    if (prefix.empty()) return {0, 0, 0, 0, 0.4, 0.3, 0.2, 0.1};
    if (prefix.size() == 3) return {0, 0, 0, 1, 0, 0, 0, 0};
    return {0, 0, 0, 0.16, 0.24, 0.22, 0.2, 0.18};
  });
  const SearchOptions options{{.beam_size = 4}, 4};
  const SearchModel models[] = {{&model}};
  const SearchInput inputs[] = {{.sources = {{9}}, .distinct = true}};
  const auto found = search(models, inputs, options).at(0);
  std::vector<int32_t> first;
  for (const auto& one : found) first.push_back(one.ids.at(0));
  EXPECT_THAT(first, testing::ElementsAre(4, 5, 6, 7));
}

TEST(SearchProperties, WithoutALengthPenaltyTheHeuristicLosesNothing) {
  for (uint64_t seed = 0; seed < 20; ++seed) {
    test::ScriptedModel model(8, test::random_script(seed, 8));
    SearchOptions options{{.beam_size = 5, .length_penalty = 0}, 5};
    for (const auto& source : some_sources(seed, 5)) {
      options.stopping = Stopping::kOptimal;
      const auto expected = search_one(model, options, source);
      options.stopping = Stopping::kHeuristic;
      expect_equal(search_one(model, options, source), expected);
    }
  }
}

TEST(SearchProperties, WhatHasItsPhraseComesFirstInDiverseBeams) {
  int64_t mixed = 0;
  for (uint64_t seed = 0; seed < 40; ++seed) {
    test::ScriptedModel model(8, test::random_script(seed, 8));
    const SearchModel only{.model = &model};
    const SearchInput input{.sources = {Ids{9}}, .must_appear = {{test::kC, test::kB, test::kC}}};
    const SearchOptions options{{.beam_size = 6, .max_length = 3, .diversity_groups = 3}, 6};
    const auto found = search(std::span(&only, 1), std::span(&input, 1), options).front();
    for (size_t i = 1; i < found.size(); ++i) {
      if (found[i - 1].finished != found[i].finished) continue;
      EXPECT_GE(found[i - 1].meets_constraints, found[i].meets_constraints) << seed;
      mixed += found[i - 1].meets_constraints && !found[i].meets_constraints;
    }
  }
  EXPECT_GT(mixed, 5);
}

TEST(SearchProperties, TheBestDoesNotDependOnHowManyAreAskedFor) {
  test::ScriptedModel model(8, test::random_script(6, 8));
  for (const auto& source : some_sources(6, 40)) {
    const auto one = search_one(model, {{.beam_size = 5}, 1}, source);
    const auto five = search_one(model, {{.beam_size = 5}, 5}, source);
    EXPECT_EQ(one[0].ids, five[0].ids);
    EXPECT_EQ(one[0].score, five[0].score);
  }
}

}  // namespace
}  // namespace nmt::search_properties_test
