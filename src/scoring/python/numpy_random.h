#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "scoring/python/seed.h"

namespace nmt::scoring {

/// The stream of numpy.random.default_rng(seed): PCG64 (O'Neill 2014, XSL-RR 128/64), seeded by NumPy's SeedSequence.
class NumpyRandom {
 public:
  /// A seed without words takes entropy from the system.
  explicit NumpyRandom(const Seed& seed);

  uint64_t next64();
  uint32_t next32();  ///< halves of next64(), the low one first
  /// The same as choice(size) with replacement: fills `out` with numbers uniform in [0, size), 1 <= size <= 2^32 - 1
  /// (Lemire 2019). Size 1 draws nothing.
  void choose(uint32_t size, std::span<uint32_t> out);
  /// The same as integers(2, dtype=bool).
  bool coin();

 private:
  unsigned __int128 state_ = 0, increment_ = 0;
  std::optional<uint32_t> high_half_;
  uint32_t coins_ = 0;
  int coins_left_ = 0;
};

}  // namespace nmt::scoring
