#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "data/piece_links.h"

namespace nmt {

/// How two alignments of a pair, one for each direction, become one (Och and Ney 2003, sec. 4; Koehn et al. 2003).
enum class Symmetrization {
  kIntersection,      ///< the links of both
  kUnion,             ///< those of either
  kGrowDiagonal,      ///< of both, and those of either beside a link for a piece that has none
  kGrowDiagonalFinal  ///< and at last those of either between two pieces that have none
};

/// forward: the source piece of each target piece, or less than 0. reversed: the target piece of each source piece.
/// Ascending by target, then source.
std::vector<PieceLink> symmetrize(std::span<const int32_t> forward, std::span<const int32_t> reversed,
                                  Symmetrization how);

}  // namespace nmt
