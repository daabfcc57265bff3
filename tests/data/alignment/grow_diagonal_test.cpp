#include <gtest/gtest.h>

#include <utility>
#include <vector>

#include "data/alignment/alignment_files.h"

namespace nmt::grow_diagonal_test {
namespace {

using Pairs = std::vector<std::pair<int, int>>;  // source, target

// Three source pieces, four target pieces: 0-0 in both directions, 1-1 forward alone beside it, 1-3 reversed alone with
// nothing beside it, 2-2 forward alone at a corner of 1-1 and of 1-3.
const std::vector<int32_t> kForward = {0, 1, 2, -1}, kReversed = {0, 3, -1};

TEST(GrowDiagonal, GrowsFromTheLinksOfBothToTheirNeighbours) {
  Pairs linked;
  for (const auto& [source, target] : grow_diagonal(kForward, kReversed)) linked.emplace_back(source, target);
  EXPECT_EQ(linked, (Pairs{{0, 0}, {1, 1}, {2, 2}, {1, 3}}));
  // Far from each other: nothing to grow from.
  const std::vector<int32_t> forward = {0, -1, -1, 3}, reversed = {0, -1, -1, -1};
  EXPECT_EQ(grow_diagonal(forward, reversed), (std::vector<PieceLink>{{0, 0}}));
}

// A piece with links takes no more of them where its partner has some, too.
TEST(GrowDiagonal, AddsLinksOnlyForPiecesWithoutAny) {
  const std::vector<int32_t> forward = {0, 0}, reversed = {0, 0};
  const auto links = grow_diagonal(forward, reversed);
  EXPECT_EQ(links, (std::vector<PieceLink>{{0, 0}, {1, 0}, {0, 1}}));
}

TEST(GrowDiagonal, OfNothingIsNothing) {
  EXPECT_TRUE(grow_diagonal({}, {}).empty());
  const std::vector<int32_t> none = {-1, -1};
  EXPECT_TRUE(grow_diagonal(none, none).empty());
}

}  // namespace
}  // namespace nmt::grow_diagonal_test
