#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "search/beams.h"
#include "search/reference_search.h"
#include "search/scripted_model.h"

namespace nmt::beam_groups_test {
namespace {

using test::Ids;
using test::kA;
using test::kB;
using testing::ElementsAre;

/// First a 0.6, b 0.3, </s> 0.1; then the end.
test::Script two_words() {
  return [](const Ids&, const Ids& prefix) {
    return prefix.empty() ? std::vector<double>{0, 0, 0, 0.1, 0.6, 0.3} : std::vector<double>{0, 0, 0, 1, 0, 0};
  };
}

TEST(BeamGroups, ALaterGroupAvoidsWhatEarlierOnesChose) {
  test::ScriptedModel model(6, two_words());
  const auto found =
      search(model, {{9}}, {{.beam_size = 2, .length_penalty = 0, .diversity_groups = 2, .diversity_strength = 1}, 2})
          .front();
  // ln 0.6 - 1 < ln 0.3: the second group takes b. The scores know nothing of the 1.
  ASSERT_EQ(found.size(), 2u);
  EXPECT_THAT(found[0].ids, ElementsAre(kA));
  EXPECT_NEAR(found[0].score, std::log(0.6), 1e-6);
  EXPECT_THAT(found[1].ids, ElementsAre(kB));
  EXPECT_NEAR(found[1].score, std::log(0.3), 1e-6);
}

TEST(BeamGroups, ATranslationOfSeveralGroupsComesOnce) {
  test::ScriptedModel model(6, two_words());
  const auto found =
      search(model, {{9}}, {{.beam_size = 2, .length_penalty = 0, .diversity_groups = 2, .diversity_strength = 0.1}, 2})
          .front();
  ASSERT_EQ(found.size(), 1u) << "ln 0.6 - 0.1 > ln 0.3: both say a";
  EXPECT_THAT(found[0].ids, ElementsAre(kA));
}

TEST(BeamGroups, RowsAreThoseOfAllGroupsAndLeaveOneByOne) {
  // The first group ends with "a" after two steps, the second continues with b.
  test::ScriptedModel model(6, [](const Ids&, const Ids& prefix) {
    if (prefix.empty()) return std::vector<double>{0, 0, 0, 0, 0.6, 0.4};
    if (prefix.front() == kB && prefix.size() < 4) return std::vector<double>{0, 0, 0, 0, 0, 1};
    return std::vector<double>{0, 0, 0, 1, 0, 0};
  });
  search(model, {{9}}, {{.beam_size = 2, .diversity_groups = 2, .diversity_strength = 2}});
  EXPECT_THAT(model.steps, ElementsAre(2, 2, 1, 1, 1));
}

TEST(BeamGroups, ShareTheBeam) {
  EXPECT_EQ(group_count({{.beam_size = 6, .diversity_groups = 3}}), 3);
  EXPECT_EQ(group_options({{.beam_size = 6, .diversity_groups = 3}, 5}).beam_size, 2);
  EXPECT_EQ(group_options({{.beam_size = 6, .diversity_groups = 3}, 5}).n_best, 2);
  EXPECT_EQ(group_count({{.beam_size = 1, .sampling = true}, 7}), 7);
  EXPECT_EQ(group_options({{.beam_size = 1, .sampling = true}, 7}).n_best, 1);
  EXPECT_EQ(group_options({{.beam_size = 4, .coverage_penalty = 0.2}}).n_best, 4);
}

}  // namespace
}  // namespace nmt::beam_groups_test
