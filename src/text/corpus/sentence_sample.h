#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/random.h"

namespace nmt {

/// At most so many lines of a stream, each with the same probability (Vitter 1985, algorithm R); a function of the seed
/// and the stream.
class SentenceSample {
 public:
  SentenceSample(int64_t capacity, uint64_t seed);  ///< capacity 0: all lines
  void offer(std::string_view line);
  int64_t offered() const { return offered_; }
  bool is_partial() const { return capacity_ > 0 && offered_ > capacity_; }  ///< some lines are not in it
  std::vector<std::string> take() { return std::move(lines_); }

 private:
  int64_t capacity_, offered_ = 0;
  CounterRandom random_;
  std::vector<std::string> lines_;
};

}  // namespace nmt
