#include <gtest/gtest.h>

#include <utility>
#include <vector>

#include "data/alignment/alignment_files.h"

namespace nmt::symmetrize_test {
namespace {

using Pairs = std::vector<std::pair<int, int>>;  // source, target

// Three source pieces, four target pieces: 0-0 in both directions, 1-1 forward alone beside it, 1-3 reversed alone with
// nothing beside it, 2-2 forward alone at a corner of 1-1 and of 1-3.
const std::vector<int32_t> kForward = {0, 1, 2, -1}, kReversed = {0, 3, -1};

Pairs linked(Symmetrization how) {
  Pairs pairs;
  for (const auto& [source, target] : symmetrize(kForward, kReversed, how)) pairs.emplace_back(source, target);
  return pairs;
}

TEST(Symmetrize, TakesTheLinksOfBothOrOfEither) {
  EXPECT_EQ(linked(Symmetrization::kIntersection), (Pairs{{0, 0}}));
  EXPECT_EQ(linked(Symmetrization::kUnion), (Pairs{{0, 0}, {1, 1}, {2, 2}, {1, 3}}));
}

TEST(Symmetrize, GrowsFromTheLinksOfBothToTheirNeighbours) {
  EXPECT_EQ(linked(Symmetrization::kGrowDiagonal), (Pairs{{0, 0}, {1, 1}, {2, 2}, {1, 3}}));
  // Far from each other: nothing to grow from.
  const std::vector<int32_t> forward = {0, -1, -1, 3}, reversed = {0, -1, -1, -1};
  const auto grown = symmetrize(forward, reversed, Symmetrization::kGrowDiagonal);
  EXPECT_EQ(grown, (std::vector<PieceLink>{{0, 0}}));
  const auto with_rest = symmetrize(forward, reversed, Symmetrization::kGrowDiagonalFinal);
  EXPECT_EQ(with_rest, (std::vector<PieceLink>{{0, 0}, {3, 3}}));
}

// A piece with links takes no more of them where its partner has some, too.
TEST(Symmetrize, AddsLinksOnlyForPiecesWithoutAny) {
  const std::vector<int32_t> forward = {0, 0}, reversed = {0, 0};
  const auto links = symmetrize(forward, reversed, Symmetrization::kGrowDiagonal);
  EXPECT_EQ(links, (std::vector<PieceLink>{{0, 0}, {1, 0}, {0, 1}}));
}

TEST(Symmetrize, OfNothingIsNothing) {
  EXPECT_TRUE(symmetrize({}, {}, Symmetrization::kUnion).empty());
  const std::vector<int32_t> none = {-1, -1};
  EXPECT_TRUE(symmetrize(none, none, Symmetrization::kGrowDiagonalFinal).empty());
}

}  // namespace
}  // namespace nmt::symmetrize_test
