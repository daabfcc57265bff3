#pragma once

#include <ATen/Parallel.h>

#include <algorithm>
#include <atomic>
#include <cstdint>

namespace nmt {

/// body(begin, end) for ranges of `each`, and of a quarter of it at the end, that make up [0, count), on all threads. A
/// thread that has done its range takes the next one: where a core is slower than another, or busy, the others do not
/// wait for it (at::parallel_for gives each thread the same share), and what is left at the end is short. body is
/// called in no particular order.
template <typename Body>
void parallel_ranges(int64_t count, int64_t each, const Body& body) {
  const int64_t ranges = (count + each - 1) / each, threads = std::min<int64_t>(at::get_num_threads(), ranges);
  const int64_t last = 2 * threads * each, quarter = std::max<int64_t>(1, each / 4);
  std::atomic<int64_t> next = 0;
  at::parallel_for(0, threads, 1, [&](int64_t, int64_t) {
    for (int64_t begin = next, end = 0; begin < count;) {
      end = std::min(count, begin + (count - begin > last ? each : quarter));
      if (!next.compare_exchange_weak(begin, end)) continue;  // begin is what another thread left
      body(begin, end);
      begin = next;
    }
  });
}

}  // namespace nmt
