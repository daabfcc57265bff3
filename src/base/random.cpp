#include "base/random.h"

namespace nmt {
namespace {

constexpr uint64_t kGolden = 0x9e3779b97f4a7c15ULL;  // 2^64 / golden ratio, the step of SplitMix64

}  // namespace

CounterRandom::CounterRandom(std::initializer_list<uint64_t> key) : state_(mix64(key.size() + kGolden)) {
  // Each word is mixed before it is added: neighbouring keys, such as epochs 1 and 2, start far apart.
  for (const uint64_t word : key) state_ = mix64(state_ + mix64(word + kGolden) + kGolden);
}

uint64_t CounterRandom::next() { return mix64(state_ += kGolden); }

uint64_t CounterRandom::below(uint64_t bound) {
  __extension__ using Wide = unsigned __int128;
  Wide product = static_cast<Wide>(next()) * bound;
  if (static_cast<uint64_t>(product) < bound) {
    const uint64_t threshold = -bound % bound;  // 2^64 mod bound: so many low words would be too often
    while (static_cast<uint64_t>(product) < threshold) product = static_cast<Wide>(next()) * bound;
  }
  return static_cast<uint64_t>(product >> 64);
}

double CounterRandom::uniform() { return static_cast<double>(next() >> 11) * 0x1p-53; }

}  // namespace nmt
