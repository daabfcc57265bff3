#pragma once

#include <ATen/Parallel.h>

#include <algorithm>
#include <atomic>
#include <cstdint>

namespace nmt {

/// body(begin, end) for ranges of `each` that make up [0, count), on all threads. A thread that has done its range
/// takes the next one: where a core is slower than another, or busy, the others do not wait for it (at::parallel_for
/// gives each thread the same share). body is called in no particular order.
template <typename Body>
void parallel_ranges(int64_t count, int64_t each, const Body& body) {
  const int64_t ranges = (count + each - 1) / each, threads = std::min<int64_t>(at::get_num_threads(), ranges);
  std::atomic<int64_t> next = 0;
  at::parallel_for(0, threads, 1, [&](int64_t, int64_t) {
    for (int64_t i = next++; i < ranges; i = next++) body(i * each, std::min(count, (i + 1) * each));
  });
}

}  // namespace nmt
