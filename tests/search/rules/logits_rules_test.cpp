#include "search/logits_rules.h"

#include <gmock/gmock.h>

#include "search/step_scores.h"
#include "text/tokenizer.h"

namespace nmt::logits_rules_test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using Ids = std::vector<int32_t>;
using Of = LogitsRules::Of;

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

TEST(MakeDistinct, SortsFewAndManyIds) {
  for (const int32_t count : {0, 3, 63, 64, 1000}) {
    std::vector<int32_t> ids;
    for (int32_t i = 0; i < count; ++i) ids.push_back(i * 7919 % 1301);
    ids.insert(ids.end(), ids.begin(), ids.begin() + count / 2);
    const std::set<int32_t> expected(ids.begin(), ids.end());
    make_distinct(ids);
    EXPECT_EQ(ids, std::vector<int32_t>(expected.begin(), expected.end())) << count;
  }
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
  std::vector<float> values = {0, 1, 0, 3, 5, 4, -2, 0, 1, 0, 6, 2, 2.5, -1};
  PlainLogits logits(values, 7);
  const std::vector<RowRules> rows = {{.tokens = {6, 4, 6}}, {}};
  rules.change(logits, Of::kModel, rows);
  EXPECT_THAT(values, ElementsAre(0, 1, 0, 3, 2.5, 4, -4, 0, 1, 0, 6, 2, 2.5, -1));
}

TEST(LogitsRules, OfSeveralModelsThePenaltyChangesEach) {
  const LogitsRules rules({{.repetition_penalty = 2}});
  const std::vector<RowRules> rows = {{.tokens = {4}}};
  std::vector<float> values = {0, 1, 0, 3, 5};
  PlainLogits logits(values, 5);
  rules.change(logits, Of::kEnsemble, rows);
  EXPECT_THAT(values, ElementsAre(0, 1, 0, 3, 5));
  rules.change(logits, Of::kMember, rows);
  EXPECT_THAT(values, ElementsAre(0, 1, 0, 3, 2.5));
}

TEST(LogitsRules, ChangeTheColumnsOfAShortlist) {
  const LogitsRules rules({{.repetition_penalty = 2}});
  std::vector<float> values = {0, 1, 0, 3, 5, 4};
  PlainLogits logits(values, 6);
  const std::vector<RowRules> rows = {{.tokens = {20, 30, 11}}};
  rules.change(logits, Of::kModel, rows, Ids{0, 1, 2, 3, 11, 20});
  EXPECT_THAT(values, ElementsAre(0, 1, 0, 3, 2.5, 2));
}

TEST(LogitsRules, AGivenFirstTokenIsCertain) {
  const LogitsRules rules({{}, 1, {}, false, {std::make_shared<GivenFirstToken>(5)}});
  std::vector<float> values = {0, 1, 0, 3, 5, 4, 0, 1, 0, 3, 5, 4};
  PlainLogits logits(values, 6);
  const std::vector<RowRules> rows = {{.tokens = {5}}, {.wanted = {5}, .only_wanted = true}};
  rules.change(logits, Of::kModel, rows);
  EXPECT_THAT(std::span(values).first(6), ElementsAre(0, 1, 0, 3, 5, 4)) << "later tokens are chosen";
  EXPECT_THAT(best_tokens(logits, 1).ids, ElementsAre(4, 5));
  EXPECT_EQ(best_tokens(logits, 1).log_probabilities[1], 0);
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
