#pragma once

#include <cstdint>
#include <vector>

#include "base/process/log.h"
#include "config/config.h"
#include "evaluation/test_set.h"
#include "text/codec/codec.h"

namespace nmt {

/// Which pairs of a test set count: by default all. Kyubyong's program of 2017 evaluates the pairs within its maxlen,
/// and whole batches of them.
struct PairChoice {
  bool only_within_maxlen = false;   ///< only pairs of at most maxlen1 and maxlen2 tokens, end symbols counted
  int64_t maxlen1 = 0, maxlen2 = 0;  ///< of the source; of the first reference
  bool whole_batches = false;        ///< of what is left, only the first batches that are full
  int64_t batch_size = 32;           ///< sentences

  bool leaves_out() const { return only_within_maxlen || whole_batches; }
};
/// What the sections evaluation, data and decoding say.
PairChoice pair_choice(const Config& config);

/// The chosen pairs in their order; left_out says how many others there were. The codec cuts the pieces that are
/// counted. Throws Error where none is left.
TestSet chosen_pairs(TestSet test_set, const TextCodec& codec, const PairChoice& choice);

/// The chosen pairs of several sets; tells the log about each that is not whole.
std::vector<TestSet> chosen_pairs(std::vector<TestSet> test_sets, const TextCodec& codec, const PairChoice& choice,
                                  Logger& log);

}  // namespace nmt
