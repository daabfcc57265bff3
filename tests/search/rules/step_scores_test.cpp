#include "search/step_scores.h"

#include <gmock/gmock.h>

#include <cmath>
#include <limits>

#include "search/list_search.h"
#include "text/tokenizer.h"

namespace nmt::step_scores_test {
namespace {

using testing::ElementsAre;

//            <pad> <unk> <s>  </s>  a   b    c
torch::Tensor two_rows() {
  return torch::tensor({{0.f, 1.f, 0.f, 3.f, 5.f, 4.f, -2.f}, {0.f, 1.f, 0.f, 6.f, 2.f, 2.5f, -1.f}});
}

double log_sum(std::initializer_list<double> logits) {
  double sum = 0;
  for (const double x : logits) sum += std::exp(x);
  return std::log(sum);
}

TEST(StepScores, WithoutRulesAreTheBestTokens) {
  auto logits = two_rows();
  const auto scores = step_scores(logits, {.count = 2});
  EXPECT_THAT(scores.best.ids, ElementsAre(4, 5, 3, 5));
  EXPECT_TRUE(scores.wanted.empty());
}

TEST(StepScores, BannedTokensLeaveTheChoiceAndKeepTheirShare) {
  auto logits = two_rows();
  const std::vector<RowRules> rules = {{.banned = {4, 4, 3}}, {}};
  const auto scores = step_scores(logits, {.rules = rules, .count = 2});
  EXPECT_EQ(scores.best.ids[0], 5);
  EXPECT_EQ(scores.best.ids[1], 1);
  EXPECT_EQ(scores.best.ids[scores.best.width], 3);
  EXPECT_NEAR(scores.best.log_probabilities[0], 4 - log_sum({0, 1, 0, 3, 5, 4, -2}), 1e-6);
}

TEST(StepScores, GiveWhatIsWantedWhateverItsRank) {
  auto logits = two_rows();
  const std::vector<RowRules> rules = {{.banned = {6}, .wanted = {6, 0}}, {.wanted = {4}}};
  const auto scores = step_scores(logits, {.rules = rules, .count = 1});
  ASSERT_EQ(scores.wanted.size(), 2u);
  ASSERT_EQ(scores.wanted[0].size(), 2u);
  ASSERT_EQ(scores.wanted[1].size(), 1u);
  EXPECT_EQ(scores.wanted[0][0].token, 6);
  EXPECT_NEAR(scores.wanted[0][0].log_probability, -2 - log_sum({0, 1, 0, 3, 5, 4, -2}), 1e-6);
  EXPECT_EQ(scores.wanted[0][1].token, 0);
  EXPECT_NEAR(scores.wanted[1][0].log_probability, 2 - log_sum({0, 1, 0, 6, 2, 2.5, -1}), 1e-6);
}

TEST(StepScores, WhatIsForcedIsAllThereIsEvenIfItCannotBe) {
  auto logits = two_rows();
  logits[0][6] = -std::numeric_limits<float>::infinity();
  const std::vector<RowRules> rules = {{.wanted = {6}, .only_wanted = true}, {.wanted = {5}}};
  const auto scores = step_scores(logits, {.rules = rules, .count = 2});
  EXPECT_THAT(std::vector<int32_t>(scores.best.ids.begin(), scores.best.ids.begin() + scores.best.width),
              testing::Each(BestTokens::kNone));
  ASSERT_EQ(scores.wanted[0].size(), 1u);
  EXPECT_EQ(scores.wanted[0][0].token, 6);
  EXPECT_EQ(scores.best.ids[scores.best.width], 3) << "the other row may choose";
}

TEST(StepScores, NothingImpossibleIsWanted) {
  auto logits = two_rows();
  logits[0][6] = -std::numeric_limits<float>::infinity();
  const std::vector<RowRules> rules = {{.wanted = {6, 5}}, {}};
  const auto scores = step_scores(logits, {.rules = rules, .count = 2});
  ASSERT_EQ(scores.wanted[0].size(), 1u);
  EXPECT_EQ(scores.wanted[0][0].token, 5);
}

TEST(StepScores, ManyBansLeaveEnoughToChooseFrom) {
  auto logits = torch::arange(100, torch::kFloat).unsqueeze(0).contiguous();
  RowRules rule;
  for (int32_t id = 20; id < 100; ++id) rule.banned.push_back(id);
  const std::vector<RowRules> rules = {rule};
  const auto scores = step_scores(logits, {.rules = rules, .count = 3});
  EXPECT_THAT(std::vector<int32_t>(scores.best.ids.begin(), scores.best.ids.begin() + 3), ElementsAre(19, 18, 17));
}

}  // namespace
}  // namespace nmt::step_scores_test
