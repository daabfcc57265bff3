#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <map>

#include "base/error.h"
#include "search/list_search.h"
#include "search/reference_search.h"
#include "search/scripted_model.h"
#include "support.h"

namespace nmt::search_test {
namespace {

using test::expect_equal;
using test::Ids;
using test::kA;
using test::kB;
using test::kEnd;
using test::logits_of;
using test::some_sources;
using testing::ElementsAre;

/// Probabilities of the words that are named; the others have none.
std::vector<double> distribution(const std::map<int32_t, double>& words, int64_t vocabulary = 6) {
  std::vector<double> result(vocabulary, 0.0);
  for (const auto& [id, probability] : words) result.at(id) = probability;
  return result;
}

/// A script of one sentence: prefix -> distribution. What is not listed ends at once.
test::Script table(std::map<Ids, std::map<int32_t, double>> rows) {
  return [rows = std::move(rows)](const Ids&, const Ids& prefix) {
    const auto row = rows.find(prefix);
    return distribution(row == rows.end() ? std::map<int32_t, double>{{kEnd, 1.0}} : row->second);
  };
}

std::vector<Hypothesis> search_one(test::ScriptedModel& model, const SearchOptions& options, const Ids& source = {9}) {
  return search(model, {source}, options).at(0);
}

std::vector<Hypothesis> search_one(const test::Script& script, const SearchOptions& options, const Ids& source = {9}) {
  test::ScriptedModel model(6, script);
  return search_one(model, options, source);
}

// "a" looks better at first, but every way on from it is poor: greedy takes it, a beam does not.
test::Script garden_path() {
  return table({
      {{}, {{kA, 0.6}, {kB, 0.4}}},
      {{kA}, {{kEnd, 0.3}, {kA, 0.4}, {kB, 0.3}}},  // "a": 0.6 * 0.3
      {{kB}, {{kEnd, 0.9}, {kB, 0.1}}},             // "b": 0.4 * 0.9
      {{kA, kA}, {{kEnd, 1.0}}},                    // "a a": 0.6 * 0.4
      {{kA, kB}, {{kEnd, 1.0}}},                    // "a b": 0.6 * 0.3
  });
}

TEST(Search, GreedyTakesTheBestTokenOfEachStep) {
  const auto found = search_one(garden_path(), {{.beam_size = 1, .length_penalty = 0}});
  ASSERT_EQ(found.size(), 1u);
  EXPECT_THAT(found[0].ids, ElementsAre(kA, kA));
  EXPECT_NEAR(found[0].log_probability, std::log(0.6 * 0.4), 1e-6);
  EXPECT_EQ(found[0].score, found[0].log_probability);
  EXPECT_TRUE(found[0].finished);
}

TEST(Search, BeamFindsWhatGreedyMisses) {
  const auto found = search_one(garden_path(), {{.beam_size = 2, .length_penalty = 0}, 2});
  ASSERT_EQ(found.size(), 2u);
  EXPECT_THAT(found[0].ids, ElementsAre(kB));
  EXPECT_NEAR(found[0].score, std::log(0.4 * 0.9), 1e-6);
  EXPECT_THAT(found[1].ids, ElementsAre(kA, kA));
  EXPECT_NEAR(found[1].score, std::log(0.6 * 0.4), 1e-6);
}

TEST(Search, PaperPenaltyDividesByItsFormula) {
  // "b" has n = 2 tokens with </s>, "a a" 3: ((5 + 2) / 6)^1 and ((5 + 3) / 6)^1.
  const auto found = search_one(garden_path(), {{.beam_size = 2, .length_penalty = 1}, 2});
  ASSERT_EQ(found.size(), 2u);
  EXPECT_NEAR(found[0].score, std::log(0.36) / (7.0 / 6), 1e-6);
  EXPECT_NEAR(found[1].score, std::log(0.24) / (8.0 / 6), 1e-6);
  EXPECT_NEAR(found[1].log_probability, std::log(0.24), 1e-6);
}

TEST(Search, SimplePenaltyCanPreferTheLongerOne) {
  // "b": ln 0.36 / 2 = -0.511; "a a": ln 0.24 / 3 = -0.476.
  const auto found = search_one(
      garden_path(), {{.beam_size = 2, .length_penalty = 1, .length_penalty_form = LengthPenalty::kSimple}, 2});
  ASSERT_EQ(found.size(), 2u);
  EXPECT_THAT(found[0].ids, ElementsAre(kA, kA));
  EXPECT_NEAR(found[0].score, std::log(0.24) / 3, 1e-6);
  EXPECT_NEAR(found[1].score, std::log(0.36) / 2, 1e-6);
}

TEST(Search, NeverChoosesPaddingOrBegin) {
  const test::Script script = [](const Ids&, const Ids& prefix) {
    // <pad> 0.5, <unk> 0.05, <s> 0.3, </s> 0.04, a 0.06, b 0.05
    return prefix.size() < 2 ? std::vector<double>{0.5, 0.05, 0.3, 0.04, 0.06, 0.05}
                             : std::vector<double>{0.6, 0, 0.2, 0.2, 0, 0};
  };
  const auto found = search_one(script, {{.beam_size = 1, .length_penalty = 0}});
  EXPECT_THAT(found[0].ids, ElementsAre(kA, kA));
  EXPECT_NEAR(found[0].log_probability, std::log(0.06 * 0.06 * 0.2), 1e-5) << "over the whole vocabulary";
}

TEST(Search, EqualHypothesesComeInTheOrderOfBeamAndId) {
  const auto script = table({
      {{}, {{kB, 0.5}, {kA, 0.5}}},
      {{kA}, {{kEnd, 0.5}, {kA, 0.25}, {kB, 0.25}}},
      {{kB}, {{kEnd, 0.5}, {kA, 0.25}, {kB, 0.25}}},
  });
  const auto found = search_one(script, {{.beam_size = 2, .length_penalty = 0}, 2});
  ASSERT_EQ(found.size(), 2u);
  EXPECT_THAT(found[0].ids, ElementsAre(kA));
  EXPECT_THAT(found[1].ids, ElementsAre(kB));
}

TEST(Search, EmptyTranslationIsPossible) {
  const auto found = search_one(table({}), {{.beam_size = 3}});
  ASSERT_EQ(found.size(), 1u);
  EXPECT_TRUE(found[0].ids.empty());
  EXPECT_TRUE(found[0].finished);
  EXPECT_NEAR(found[0].log_probability, 0, 1e-5);
}

TEST(Search, FewerHypothesesThanAskedForWhereThereAreNoMore) {
  const test::Script script = [](const Ids&, const Ids& prefix) {
    return prefix.empty() ? std::vector<double>{0, 0, 0, 0.25, 0.75, 0} : std::vector<double>{0, 0, 0, 1, 0, 0};
  };
  const auto found = search_one(script, {{.beam_size = 4, .length_penalty = 0}, 4});
  ASSERT_EQ(found.size(), 2u);
  EXPECT_THAT(found[0].ids, ElementsAre(kA));
  EXPECT_TRUE(found[1].ids.empty());
}

TEST(Search, BeamWiderThanTheVocabulary) {
  const auto script = test::random_script(5, 6);
  const SearchOptions options{{.beam_size = 50, .max_length_ratio = 0, .max_length_offset = 3}, 50};
  expect_equal(search_one(script, options),
               test::reference_beam_search(logits_of(script), {.sources = {{9}}}, options));
}

struct LimitCase {
  SearchOptions options;
  int64_t source_pieces, limit;
};

TEST(Search, LengthLimitComesFromTheSource) {
  const std::vector<LimitCase> cases = {
      {{{.max_length_ratio = 2, .max_length_offset = 20}}, 4, 30},  // </s> counts as source
      {{{.max_length_ratio = 1.5, .max_length_offset = 0}}, 2, 4},  // 4.5 rounded down
      {{{.max_length_ratio = 0.1, .max_length_offset = 0}}, 0, 1},  // at least one token
      {{{.max_length_ratio = 0, .max_length_offset = 7}}, 100, 7},
      {{{.max_length_ratio = 2, .max_length_offset = 20, .max_length = 12}}, 100, 12},
      {{{.max_length_ratio = 1e300, .max_length_offset = 0}}, 100, 1'000'000'000},
  };
  for (const auto& [options, pieces, limit] : cases) EXPECT_EQ(options.length_limit(pieces), limit) << limit;
}

// A model that would never end is cut, and says so.
TEST(Search, CutsAtTheLengthLimit) {
  const test::Script endless = [](const Ids&, const Ids&) { return distribution({{kA, 0.75}, {kB, 0.25}}); };
  for (const int64_t beam_size : {1, 3}) {
    test::ScriptedModel model(6, endless);
    const auto found = search_one(
        model, {{.beam_size = beam_size, .length_penalty = 0, .max_length_ratio = 1, .max_length_offset = 3}}, {9, 9});
    EXPECT_EQ(model.steps.size(), 6u) << "ratio 1 * (2 + </s>) + 3";
    EXPECT_EQ(found[0].ids, Ids(6, kA));
    EXPECT_FALSE(found[0].finished);
    EXPECT_NEAR(found[0].score, 6 * std::log(0.75), 1e-5);
  }
}

TEST(Search, FinishedHypothesesComeBeforeThoseThatWereCut) {
  // "b" ends with probability 0.05; "a a a ..." is far more probable but never ends.
  const test::Script script = [](const Ids&, const Ids& prefix) {
    if (prefix.empty()) return distribution({{kA, 0.9}, {kB, 0.1}});
    if (prefix == Ids{kB}) return distribution({{kEnd, 0.5}, {kB, 0.5}});
    return distribution({{kA, 1.0}});
  };
  const SearchOptions options{{.beam_size = 2, .length_penalty = 0, .max_length_ratio = 0, .max_length_offset = 4}, 2};
  const auto found = search_one(script, options);
  ASSERT_EQ(found.size(), 2u);
  EXPECT_THAT(found[0].ids, ElementsAre(kB));
  EXPECT_TRUE(found[0].finished);
  EXPECT_THAT(found[1].ids, ElementsAre(kA, kA, kA, kA));
  EXPECT_FALSE(found[1].finished);
}

TEST(Search, StopsWhenNothingLiveCanWinAnyMore) {
  // "a" ends at once with 0.9; what lives on starts from 0.1 and may become 12 tokens: ln 0.1 / (17/6)^0.6 = -1.23 at
  // best, ln 0.9 / (7/6)^0.6 = -0.10 is safe after the second step.
  const auto script = table({
      {{}, {{kA, 1.0}}},
      {{kA}, {{kEnd, 0.9}, {kB, 0.1}}},
      {{kA, kB}, {{kB, 1.0}}},
  });
  test::ScriptedModel model(6, script);
  const auto found = search_one(model, {{.beam_size = 4, .max_length_ratio = 0, .max_length_offset = 12}});
  EXPECT_THAT(found[0].ids, ElementsAre(kA));
  EXPECT_EQ(model.steps.size(), 2u);
}

TEST(Search, GoesOnWhileALongerOneMayStillWin) {
  // "a" ends with 0.5; "a b b b" has 0.5 as well, but is divided by a larger penalty.
  const auto script = table({
      {{}, {{kA, 1.0}}},
      {{kA}, {{kEnd, 0.5}, {kB, 0.5}}},
      {{kA, kB}, {{kB, 1.0}}},
      {{kA, kB, kB}, {{kB, 1.0}}},
  });
  const auto found = search_one(script, {{.beam_size = 4, .max_length_ratio = 0, .max_length_offset = 12}});
  EXPECT_THAT(found[0].ids, ElementsAre(kA, kB, kB, kB));
  EXPECT_NEAR(found[0].score, std::log(0.5) / std::pow(10.0 / 6, 0.6), 1e-5);
}

// Many poor translations end before the good one does: the number of finished hypotheses alone says nothing.
TEST(Search, ManyFinishedOnesDoNotEndTheSearch) {
  const test::Script script = [](const Ids&, const Ids& prefix) {
    return prefix.size() < 8 ? distribution({{kA, 0.8}, {kEnd, 0.2}}) : distribution({{kEnd, 1.0}});
  };
  for (const int64_t beam_size : {2, 4}) {
    const auto found = search_one(script, {{.beam_size = beam_size, .length_penalty = 1}});
    EXPECT_EQ(found[0].ids, Ids(8, kA)) << "8 ln 0.8 / (14/6) = -0.77 is better than ln 0.2 / (6/6) and all between";
  }
}

TEST(Search, StopsWhenEnoughAreFinishedAndTheLiveOnesFallBehind) {
  // Half of what lives ends in each step. After "a" (0.5) and "a b" (0.25) are finished, "a b b" (0.25 after 3 tokens)
  // scores ln 0.25 / 3 = -0.46, "a" ln 0.5 / 2 = -0.35: two are finished and the best is not in reach, although the
  // bound ln 0.25 / 50 = -0.03 is.
  const test::Script script = [](const Ids&, const Ids& prefix) {
    return prefix.empty() ? distribution({{kA, 1.0}}) : distribution({{kEnd, 0.5}, {kB, 0.5}});
  };
  test::ScriptedModel model(6, script);
  const auto found = search_one(model, {{.beam_size = 2,
                                         .length_penalty = 1,
                                         .length_penalty_form = LengthPenalty::kSimple,
                                         .max_length_ratio = 0,
                                         .max_length_offset = 50},
                                        2});
  EXPECT_EQ(model.steps.size(), 3u);
  ASSERT_EQ(found.size(), 2u);
  EXPECT_THAT(found[0].ids, ElementsAre(kA));
  EXPECT_NEAR(found[0].score, std::log(0.5) / 2, 1e-6);
  EXPECT_THAT(found[1].ids, ElementsAre(kA, kB));
}

TEST(Search, HopelessHypothesesLeaveTheBatch) {
  // After two steps "a" is finished with 0.6 * 0.4, "a b" lives with 0.36 and "b a" with 0.2, which only shrinks.
  const auto script = table({
      {{}, {{kA, 0.6}, {kB, 0.4}}},
      {{kA}, {{kEnd, 0.4}, {kB, 0.6}}},
      {{kB}, {{kEnd, 0.5}, {kA, 0.5}}},
      {{kA, kB}, {{kEnd, 1.0}}},
      {{kB, kA}, {{kEnd, 1.0}}},
  });
  const auto rows = [&](SearchOptions options) {
    test::ScriptedModel model(6, script);
    options.beam_size = 2;
    const auto found = search_one(model, options);
    EXPECT_THAT(found[0].ids, ElementsAre(kA, kB));
    return model.steps;
  };
  EXPECT_THAT(rows({{.length_penalty = 0}}), ElementsAre(1, 2, 1));
  EXPECT_THAT(rows({{.length_penalty = 0}, 2}), ElementsAre(1, 2, 2)) << "the second best is asked for";
  EXPECT_THAT(rows({{.length_penalty = 0, .stopping = Stopping::kFirst}}), ElementsAre(1, 2, 2)) << "it may count";
}

TEST(Search, FinishedSentencesLeaveTheBatch) {
  // A translation is as long as its source.
  const test::Script copy = [](const Ids& source, const Ids& prefix) {
    return distribution({{prefix.size() < source.size() ? kA : kEnd, 1.0}});
  };
  test::ScriptedModel model(6, copy);
  const auto found = search(model, {{9, 9, 9}, {}, {9}}, {{.beam_size = 1}});
  EXPECT_EQ(found[0][0].ids, Ids(3, kA));
  EXPECT_EQ(found[1][0].ids, Ids());
  EXPECT_EQ(found[2][0].ids, Ids(1, kA));
  EXPECT_THAT(model.started, ElementsAre(3));
  EXPECT_THAT(model.steps, ElementsAre(3, 2, 1, 1));
}

TEST(Search, NoSentencesGiveNoResults) {
  test::ScriptedModel model(6, table({}));
  EXPECT_TRUE(search(model, {}, {}).empty());
  EXPECT_TRUE(model.started.empty());
}

// ---- errors ----

TEST(Search, SaysThatAModelIsDamaged) {
  const test::Script nan = [](const Ids&, const Ids& prefix) {
    return prefix.empty() ? distribution({{kA, 1.0}}) : std::vector<double>(6, NAN);
  };
  EXPECT_THAT(test::message_of<Error>([&] { search_one(nan, {}); }), testing::HasSubstr("not a number"));
}

}  // namespace
}  // namespace nmt::search_test
