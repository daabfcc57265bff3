#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <string>

namespace nmt::simulated {

constexpr int kStreams = 8;
constexpr int kHost = -1;

/// A vector clock: of each stream, how much of its work is known to be done before.
struct Clock {
  std::array<uint64_t, kStreams> of{};
  void join(const Clock& other) {
    for (int s = 0; s < kStreams; ++s) of[s] = std::max(of[s], other.of[s]);
  }
};

/// A use of memory: work number `epoch` of a stream.
struct Access {
  int stream = 0;
  uint64_t epoch = 0;
  bool writes = false;
  std::string by;
  bool before(const Clock& clock) const { return clock.of[stream] >= epoch; }
};

}  // namespace nmt::simulated
