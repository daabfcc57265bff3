#include "search/logits_rules.h"

#include <gmock/gmock.h>

#include "tensor_support.h"
#include "text/tokenizer.h"

namespace nmt::logits_rules_test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using Ids = std::vector<int32_t>;

/// What the rules say after these tokens.
RowRules judged(const LogitsRules& rules, const Ids& tokens, const SearchInput& input = {}) {
  RowRules row{.input = &input, .tokens = tokens};
  rules.judge(row);
  return row;
}

Ids banned_after(const SearchOptions& options, const Ids& tokens) {
  return judged(LogitsRules(options), tokens).banned;
}

bool has_rules(const SearchOptions& options, const SearchInput& input = {}) {
  return LogitsRules(options).concern(input);
}

TEST(LogitsRules, AreNoneByDefault) {
  EXPECT_FALSE(has_rules({}));
  EXPECT_THAT(banned_after({}, {5, 5, 5, 5}), IsEmpty());
  EXPECT_THAT(LogitsRules({}).beginning({}), IsEmpty());
}

TEST(LogitsRules, TheEndIsBannedBeforeTheMinimum) {
  const SearchOptions options{{.min_length = 2}};
  EXPECT_TRUE(has_rules(options));
  EXPECT_THAT(banned_after(options, {}), ElementsAre(SpecialIds::kEnd));
  EXPECT_THAT(banned_after(options, {5}), ElementsAre(SpecialIds::kEnd));
  EXPECT_THAT(banned_after(options, {5, 6}), IsEmpty());
}

TEST(LogitsRules, SequencesAreStoppedBeforeTheirLastToken) {
  const SearchOptions options{{}, 1, {{7}, {5, 6}, {5, 5, 8}}};
  EXPECT_TRUE(has_rules(options));
  EXPECT_THAT(banned_after(options, {}), ElementsAre(7));
  EXPECT_THAT(banned_after(options, {5}), ElementsAre(7, 6));
  EXPECT_THAT(banned_after(options, {9, 5, 5}), ElementsAre(7, 6, 8));
  EXPECT_THAT(banned_after(options, {5, 9}), ElementsAre(7));
}

TEST(LogitsRules, ASentenceHasSequencesOfItsOwn) {
  const SearchInput input{.banned = {{5, 6}}};
  EXPECT_TRUE(has_rules({}, input));
  EXPECT_THAT(judged(LogitsRules({}), {5}, input).banned, ElementsAre(6));
  EXPECT_THAT(judged(LogitsRules({{}, 1, {{8}}}), {5}, input).banned, ElementsAre(8, 6));
}

TEST(LogitsRules, NoNGramComesTwice) {
  EXPECT_THAT(banned_after({{.no_repeat_ngram_size = 1}}, {5, 6}), ElementsAre(5, 6));
  const SearchOptions bigrams{{.no_repeat_ngram_size = 2}};
  EXPECT_TRUE(has_rules(bigrams));
  EXPECT_THAT(banned_after(bigrams, {5}), IsEmpty());
  EXPECT_THAT(banned_after(bigrams, {5, 6, 5}), ElementsAre(6));
  EXPECT_THAT(banned_after(bigrams, {5, 5}), ElementsAre(5)) << "it may overlap itself";
  EXPECT_THAT(banned_after(bigrams, {5, 6, 5, 7, 5}), ElementsAre(6, 7));
  EXPECT_THAT(banned_after({{.no_repeat_ngram_size = 3}}, {5, 6, 7, 5, 6}), ElementsAre(7));
}

TEST(LogitsRules, UnknownWordsOnRequest) {
  EXPECT_TRUE(has_rules({{.ban_unknown = true}}));
  EXPECT_THAT(banned_after({{.ban_unknown = true}}, {}), ElementsAre(SpecialIds::kUnknown));
}

TEST(LogitsRules, AForcedPrefixLeavesNothingElseAndNoBan) {
  const SearchInput input{.prefix = {8, 9}};
  const LogitsRules rules({{.min_length = 5, .ban_unknown = true}});
  EXPECT_TRUE(LogitsRules({}).concern(input));
  EXPECT_THAT(rules.beginning(input), ElementsAre(8, 9));
  const auto forced = judged(rules, {8}, input), free = judged(rules, {8, 9}, input);
  EXPECT_THAT(forced.wanted, ElementsAre(9));
  EXPECT_TRUE(forced.only_wanted);
  EXPECT_THAT(forced.banned, IsEmpty());
  EXPECT_FALSE(free.only_wanted);
  EXPECT_THAT(free.banned, ElementsAre(SpecialIds::kEnd, SpecialIds::kUnknown));
}

TEST(LogitsRules, RepetitionPenaltyChangesTheLogitsOfTokensSeen) {
  const LogitsRules rules({{.repetition_penalty = 2}});
  EXPECT_TRUE(rules.concern({}));
  const auto before = torch::tensor({{0.f, 1.f, 0.f, 3.f, 5.f, 4.f, -2.f}, {0.f, 1.f, 0.f, 6.f, 2.f, 2.5f, -1.f}});
  auto logits = before.clone();
  std::vector<RowRules> rows = {{.tokens = {6, 4, 6}}, {}};
  rules.change(logits, rows);
  auto expected = before.clone();
  expected[0][4] = 2.5;
  expected[0][6] = -4;
  EXPECT_TRUE(logits.equal(expected)) << logits;
}

TEST(LogitsRules, OfSeveralModelsThePenaltyChangesEach) {
  const LogitsRules rules({{.repetition_penalty = 2}});
  const auto before = torch::tensor({{0.f, 1.f, 0.f, 3.f, 5.f}});
  const auto expected = torch::tensor({{0.f, 1.f, 0.f, 3.f, 2.5f}});
  const std::vector<RowRules> rows = {{.tokens = {4}}};
  std::vector<torch::Tensor> of_one = {before.clone()}, of_two = {before.clone(), before.clone()};
  rules.change_each(of_one, rows);
  rules.change_each(of_two, rows);
  EXPECT_TRUE(of_one[0].equal(before)) << "that is for change() to do";
  EXPECT_TRUE(of_two[0].equal(expected) && of_two[1].equal(expected));
  auto together = before.clone();
  rules.change(together, rows, {}, 2);
  EXPECT_TRUE(together.equal(before)) << "it is done";
}

TEST(LogitsRules, ChangeTheColumnsOfAShortlist) {
  const LogitsRules rules({{.repetition_penalty = 2}});
  auto logits = torch::tensor({{0.f, 1.f, 0.f, 3.f, 5.f, 4.f}});
  const std::vector<RowRules> rows = {{.tokens = {20, 30, 11}}};
  rules.change(logits, rows, Ids{0, 1, 2, 3, 11, 20});
  EXPECT_TRUE(logits.equal(torch::tensor({{0.f, 1.f, 0.f, 3.f, 2.5f, 2.f}}))) << logits;
}

/// Never says the same token twice in a row.
class NoEcho final : public LogitsRule {
 public:
  void judge(RowRules& row) const override {
    if (!row.tokens.empty()) row.banned.push_back(row.tokens.back());
  }
};

TEST(LogitsRules, AProgramMayBringItsOwn) {
  const SearchOptions options{{.min_length = 3}, 1, {}, false, {std::make_shared<NoEcho>()}};
  EXPECT_TRUE(has_rules({{}, 1, {}, false, options.rules}));
  EXPECT_THAT(banned_after(options, {5, 6}), ElementsAre(SpecialIds::kEnd, 6));
}

}  // namespace
}  // namespace nmt::logits_rules_test
