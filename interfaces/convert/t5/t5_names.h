#pragma once

#include <string>
#include <vector>

#include "config/config.h"

namespace nmt::convert {

/// How a weight of T5 becomes one of ours.
enum class T5Role {
  kPlain,       ///< as it stands
  kHeads,       ///< rows by head: queries, keys, values
  kCrossQuery,  ///< the same; our cross-attention divides its scores, T5's does not
  kHeadsIn,     ///< columns by head: what reads the heads
  kBuckets,     ///< [buckets, heads]
};

struct T5Weight {
  std::string ours, theirs;
  T5Role role = T5Role::kPlain;
};

/// Every weight of T5 but the tables of tokens.
std::vector<T5Weight> t5_weights(const ModelConfig& config);

}  // namespace nmt::convert
