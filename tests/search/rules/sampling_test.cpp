#include <gmock/gmock.h>

#include <cmath>
#include <map>
#include <memory>
#include <numeric>
#include <set>

#include "base/error.h"
#include "base/random.h"
#include "search/list_search.h"
#include "search/scripted_model.h"
#include "support.h"

namespace nmt::sampling_test {
namespace {

using test::Ids;
using testing::ElementsAre;
using testing::Pair;

constexpr int kDraws = 1000;

BestTokens draw_tokens(const torch::Tensor& logits, DecodingConfig options, std::span<const RowRules> rules,
                       std::span<const double> uniforms) {
  options.sampling = true;
  return step_scores(logits, {.rules = rules, .uniforms = uniforms}, options).best;
}

/// How often each token is drawn from one row by kDraws evenly spaced numbers: its probability * kDraws.
std::map<int32_t, int> drawn(const std::vector<float>& logits, const DecodingConfig& options,
                             const RowRules& rules = {}) {
  const auto rows = torch::tensor(logits).repeat({kDraws, 1});
  std::vector<double> uniforms;
  for (int i = 0; i < kDraws; ++i) uniforms.push_back((i + 0.5) / kDraws);
  const std::vector<RowRules> all(kDraws, rules);
  std::map<int32_t, int> counts;
  for (const int32_t id : draw_tokens(rows, options, all, uniforms).ids) ++counts[id];
  return counts;
}

void expect_shares(const std::map<int32_t, int>& counts, const std::map<int32_t, double>& shares) {
  ASSERT_EQ(counts.size(), shares.size());
  for (const auto& [id, share] : shares) EXPECT_NEAR(counts.at(id), share * kDraws, 1) << "token " << id;
}

std::vector<float> logs(const std::vector<double>& probabilities) {
  std::vector<float> logits;
  for (const double p : probabilities) logits.push_back(static_cast<float>(std::log(p)));
  return logits;
}

//                                         <pad> <unk> <s>  </s>  a    b
const std::vector<float> kLogits = logs({0.1, 0.05, 0.1, 0.15, 0.4, 0.2});

TEST(Sampling, DrawsByProbabilityButNeverPaddingOrBegin) {
  expect_shares(drawn(kLogits, {}), {{1, 0.0625}, {3, 0.1875}, {4, 0.5}, {5, 0.25}});
}

TEST(Sampling, TemperatureSharpensAndFlattens) {
  // Squares of 0.05, 0.15, 0.4, 0.2: 0.0025, 0.0225, 0.16, 0.04 of 0.225.
  expect_shares(drawn(kLogits, {.temperature = 0.5}),
                {{1, 0.0025 / 0.225}, {3, 0.0225 / 0.225}, {4, 0.16 / 0.225}, {5, 0.04 / 0.225}});
  const auto flat = drawn(kLogits, {.temperature = 100});
  for (const auto& [id, count] : flat) EXPECT_NEAR(count, 250, 10) << id;
}

TEST(Sampling, TopKKeepsTheMostProbable) {
  expect_shares(drawn(kLogits, {.top_k = 2}), {{4, 2.0 / 3}, {5, 1.0 / 3}});
  EXPECT_THAT(drawn(kLogits, {.top_k = 1}), ElementsAre(Pair(4, kDraws)));
  EXPECT_EQ(drawn(kLogits, {.top_k = 50}).size(), 4u);
}

TEST(Sampling, TopPKeepsTheFewestThatSumToIt) {
  // Among what may be drawn: a 0.5, b 0.25, </s> 0.1875, <unk> 0.0625.
  EXPECT_THAT(drawn(kLogits, {.top_p = 0.4}), ElementsAre(Pair(4, kDraws)));
  expect_shares(drawn(kLogits, {.top_p = 0.6}), {{4, 2.0 / 3}, {5, 1.0 / 3}});
  EXPECT_EQ(drawn(kLogits, {.top_p = 0.8}).size(), 3u);
}

TEST(Sampling, TopPOfALargeVocabulary) {
  std::vector<float> logits(5000, 0.0f);  // all the same: 4998 may be drawn, the fewest with half of the mass are 2499
  EXPECT_EQ(drawn(logits, {.top_p = 0.1}).size(), 500u);
  std::vector<double> high(1, 1 - 1e-9);
  const auto last = draw_tokens(torch::tensor(logits).unsqueeze(0), {.top_p = 0.5}, {}, high);
  EXPECT_EQ(last.ids.front(), 2500) << "ids 1, 3, 4 ... in order: the 2499th is 2500";
}

TEST(Sampling, BannedTokensAreNotDrawn) {
  expect_shares(drawn(kLogits, {}, {.banned = {4, 1}}), {{3, 0.15 / 0.35}, {5, 0.2 / 0.35}});
  EXPECT_THAT(drawn(kLogits, {}, {.banned = {1, 3, 4, 5}}), ElementsAre(Pair(BestTokens::kNone, kDraws)));
}

TEST(Sampling, LogProbabilityIsTheModelsOwn) {
  const std::vector<double> first(1, 0.0);
  const auto token = draw_tokens(torch::tensor(kLogits).unsqueeze(0), {.temperature = 0.5, .top_k = 1}, {}, first);
  EXPECT_THAT(token.ids, ElementsAre(4));
  EXPECT_NEAR(token.log_probabilities.front(), std::log(0.4), 1e-6);
}

TEST(Sampling, TellsTokensApartBesideABannedOneThatHasAllOfTheProbability) {
  const std::vector<float> logits = {0, 0, 0, 200, 1, 0, -30};
  RowRules rules;
  rules.banned = {3};
  const double all = std::exp(1.0) + 2;  // tokens 1, 4, 5
  expect_shares(drawn(logits, {}, rules), {{1, 1 / all}, {4, std::exp(1.0) / all}, {5, 1 / all}});
}

TEST(Sampling, RefusesRowsThatAreNoDistribution) {
  EXPECT_THAT(test::message_of<Error>([] {
                draw_tokens(torch::full({1, 6}, NAN), {}, {}, std::vector<double>{0.5});
              }),
              testing::HasSubstr("not a number"));
}

// ---- through the search ----

SearchOptions sampled(int64_t samples, int64_t seed = 1) {
  return {{.beam_size = 1, .sampling = true, .seed = seed}, samples};
}

TEST(SamplingSearch, ASampleDoesNotDependOnItsBatchOrOnHowManyAreDrawn) {
  test::ScriptedModel model(8, test::random_script(5, 8));
  const SearchModel only{.model = &model};
  std::vector<SearchInput> inputs;
  for (int64_t i = 0; i < 20; ++i) inputs.push_back({.sources = {{4, 5, 6}}, .number = 100 + i});
  const auto together = search(std::span(&only, 1), inputs, sampled(3));
  std::set<Ids> different;
  for (size_t i = 0; i < inputs.size(); ++i) {
    ASSERT_EQ(together[i].size(), 3u);
    const auto alone = search(std::span(&only, 1), std::span(inputs).subspan(i, 1), sampled(2)).front();
    for (size_t j = 0; j < 2; ++j) {
      EXPECT_EQ(together[i][j].ids, alone[j].ids);
      EXPECT_EQ(together[i][j].log_probability, alone[j].log_probability);
    }
    for (const auto& sample : together[i]) different.insert(sample.ids);
  }
  EXPECT_GT(different.size(), 30u) << "the same sentence, other numbers: other samples";
}

TEST(SamplingSearch, SeedsPartsAndNumbersAreKeys) {
  test::ScriptedModel model(8, test::random_script(5, 8));
  const SearchModel only{.model = &model};
  const auto ids = [&](const SearchInput& input, uint64_t seed) {
    Ids all;
    const auto samples = search(std::span(&only, 1), std::span(&input, 1), sampled(5, seed)).front();
    for (const auto& sample : samples) all.insert(all.end(), sample.ids.begin(), sample.ids.end());
    return all;
  };
  const SearchInput input{.sources = {{4}}};
  EXPECT_EQ(ids(input, 1), ids(input, 1));
  EXPECT_NE(ids(input, 1), ids(input, 2));
  EXPECT_NE(ids(input, 1), ids({.sources = {{4}}, .number = 1}, 1));
  EXPECT_NE(ids(input, 1), ids({.sources = {{4}}, .part = 1}, 1));
}

TEST(SamplingSearch, FollowsTheDistribution) {
  // a 0.7, b 0.3, then the end: of 2000 sentences 1400 are "a"; the standard deviation is 20.
  test::ScriptedModel model(6, [](const Ids&, const Ids& prefix) {
    return prefix.empty() ? std::vector<double>{0, 0, 0, 0, 0.7, 0.3} : std::vector<double>{0, 0, 0, 1, 0, 0};
  });
  const SearchModel only{.model = &model};
  std::vector<SearchInput> inputs;
  for (int64_t i = 0; i < 2000; ++i) inputs.push_back({.sources = {{4}}, .number = i});
  int a = 0;
  for (const auto& result : search(std::span(&only, 1), inputs, sampled(1))) {
    ASSERT_TRUE(result.front().finished);
    a += result.front().ids == Ids{4};
  }
  EXPECT_NEAR(a, 1400, 80);
}

TEST(SamplingSearch, SamplesThatBeginAlikeShareARowOfTheModel) {
  struct SaysNothing final : LogitsRule {};  // with rules each sample has a row of its own
  std::vector<SearchInput> inputs;
  for (int64_t i = 0; i < 5; ++i) inputs.push_back({.sources = {{4, 5, 6}}, .number = i});
  const auto samples = [&](test::ScriptedModel& model, const SearchOptions& options) {
    const SearchModel only{.model = &model};
    ListQueue<SearchInput, std::vector<Hypothesis>> queue(inputs);
    search(std::span(&only, 1), queue, 2, options);
    return std::move(queue.results());
  };
  for (const double temperature : {1.0, 0.7}) {
    auto options = sampled(12);
    options.temperature = temperature;
    test::ScriptedModel shared(6, test::random_script(5, 6)), own(6, test::random_script(5, 6));
    const auto found = samples(shared, options);
    options.rules = {std::make_shared<SaysNothing>()};
    const auto expected = samples(own, options);
    for (size_t i = 0; i < inputs.size(); ++i) {
      ASSERT_EQ(found[i]->size(), 12u);
      for (size_t j = 0; j < 12; ++j) {
        EXPECT_EQ((*found[i])[j].ids, (*expected[i])[j].ids);
        EXPECT_EQ((*found[i])[j].token_log_probabilities, (*expected[i])[j].token_log_probabilities);
      }
    }
    const auto rows = [](const test::ScriptedModel& model) {
      return std::accumulate(model.steps.begin(), model.steps.end(), int64_t{0});
    };
    EXPECT_EQ(shared.steps.front(), 2) << "one row a sentence";
    EXPECT_LT(rows(shared), 0.8 * static_cast<double>(rows(own)));
  }
}

}  // namespace
}  // namespace nmt::sampling_test
