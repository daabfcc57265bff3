#include <gmock/gmock.h>

#include "base/random.h"
#include "search/beams.h"
#include "search/reference_search.h"

namespace nmt::phrase_constraints_test {
namespace {

using test::Ids;
using testing::UnorderedElementsAre;

PhraseConstraints::State state_after(const PhraseConstraints& constraints, const Ids& tokens) {
  auto state = constraints.start();
  for (const int32_t token : tokens) constraints.advance(state, token);
  return state;
}

TEST(PhraseConstraints, FollowPhrasesThatBreakOffAndBeginAgain) {
  const PhraseConstraints constraints({{5, 5, 6}});
  EXPECT_EQ(constraints.met_tokens(state_after(constraints, {5, 5})), 2);
  EXPECT_EQ(constraints.met_tokens(state_after(constraints, {5, 5, 5})), 2) << "the last two still begin it";
  EXPECT_EQ(constraints.met_tokens(state_after(constraints, {5, 5, 7})), 0);
  EXPECT_TRUE(constraints.all_met(state_after(constraints, {5, 5, 5, 6})));
  EXPECT_TRUE(constraints.all_met(state_after(constraints, {5, 5, 6, 7}))) << "what has appeared stays";
}

TEST(PhraseConstraints, NameTheTokensThatBringThemOn) {
  const PhraseConstraints constraints({{5, 5, 6}, {8}});
  EXPECT_THAT(constraints.next_tokens(constraints.start()), UnorderedElementsAre(5, 8));
  EXPECT_THAT(constraints.next_tokens(state_after(constraints, {5, 5})), UnorderedElementsAre(6, 5, 5, 8));
  EXPECT_THAT(constraints.next_tokens(state_after(constraints, {8})), UnorderedElementsAre(5));
  EXPECT_THAT(constraints.next_tokens(state_after(constraints, {8, 5, 5, 6})), UnorderedElementsAre());
}

TEST(PhraseConstraints, AreMetByNothingWhereThereAreNone) {
  const PhraseConstraints none;
  EXPECT_TRUE(none.empty());
  EXPECT_TRUE(none.all_met(none.start()));
}

TEST(PhraseConstraints, AgreeWithLookingAtTheWholeHypothesis) {
  CounterRandom random({11});
  for (int i = 0; i < 2000; ++i) {
    std::vector<Ids> phrases(1 + random.below(3));
    for (auto& phrase : phrases) {
      phrase.resize(1 + random.below(4));
      for (auto& id : phrase) id = static_cast<int32_t>(4 + random.below(3));
    }
    Ids tokens(random.below(9));
    for (auto& id : tokens) id = static_cast<int32_t>(4 + random.below(3));
    const PhraseConstraints constraints(phrases);
    const auto state = state_after(constraints, tokens);
    EXPECT_EQ(constraints.met_tokens(state), test::met_tokens(tokens, phrases));
    EXPECT_EQ(constraints.all_met(state), test::holds_all(tokens, phrases));
    for (int32_t id = 4; id < 7; ++id) {  // a token that is not named leaves nothing begun
      auto longer = tokens;
      longer.push_back(id);
      const auto named = constraints.next_tokens(state);
      if (std::ranges::find(named, id) != named.end() || constraints.all_met(state)) continue;
      int64_t met = 0;
      for (const auto& phrase : phrases) met += test::holds(tokens, phrase) ? std::ssize(phrase) : 0;
      EXPECT_EQ(test::met_tokens(longer, phrases), met);
    }
  }
}

}  // namespace
}  // namespace nmt::phrase_constraints_test
