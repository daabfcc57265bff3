#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/random.h"

namespace nmt {

/// Cuts a sentence into other pieces each time: subword regularisation. SentencePiece's own sampling draws from a
/// generator that no caller can seed for a sentence; here the result is a function of the sentence and `random` alone.
/// Thread-safe.
class SubwordSampler {
 public:
  virtual ~SubwordSampler() = default;
  /// plain: the pieces that the tokenizer gives. <unk>, bytes and user symbols stay as they are.
  virtual std::vector<int32_t> sample(std::span<const int32_t> plain, CounterRandom& random) const = 0;
};

}  // namespace nmt
