#include <gmock/gmock.h>

#include "search/search_options.h"

namespace nmt {
namespace {

TEST(SortBestFirst, EndedThenPhrasesThenScore) {
  std::vector<Hypothesis> hypotheses = {
      {.ids = {1}, .score = -1, .finished = false, .meets_constraints = false},
      {.ids = {2}, .score = -5, .finished = false, .meets_constraints = true},
      {.ids = {3}, .score = -9, .finished = true, .meets_constraints = true},
      {.ids = {4}, .score = -4, .finished = false, .meets_constraints = true},
      {.ids = {5}, .score = -5, .finished = false, .meets_constraints = true},
  };
  sort_best_first(hypotheses);
  std::vector<int32_t> order;
  for (const auto& hypothesis : hypotheses) order.push_back(hypothesis.ids.front());
  EXPECT_THAT(order, testing::ElementsAre(3, 4, 2, 5, 1)) << "equals keep their order";
}

}  // namespace
}  // namespace nmt
