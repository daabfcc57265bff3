#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <utility>
#include <vector>

namespace nmt {

/// Random numbers that are a function of a key, such as (seed, epoch), on every machine and compiler:
/// SplitMix64 (Steele, Lea, Flood 2014) over a key mixed from the given words. No state outlives a use, so nothing
/// needs saving.
class CounterRandom {
 public:
  explicit CounterRandom(std::initializer_list<uint64_t> key);
  uint64_t next();
  uint64_t below(uint64_t bound);  ///< uniform in [0, bound), bound >= 1 (Lemire's method, without bias)
  double uniform();                ///< in [0, 1), 53 bits

  template <typename T>
  void shuffle(std::vector<T>& items) {  // Fisher-Yates
    for (size_t i = items.size(); i > 1; --i) std::swap(items[i - 1], items[below(i)]);
  }

 private:
  uint64_t state_ = 0;
};

/// One round of SplitMix64's output function: a good 64-bit mix.
constexpr uint64_t mix64(uint64_t z) {
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
  return z ^ (z >> 31);
}

}  // namespace nmt
