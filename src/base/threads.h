#pragma once

#include <cstdint>
#include <functional>

namespace nmt {

/// Threads to use when the user says 0: the processors this process may run on (affinity and cgroup quota counted).
int default_threads();

/// Calls body(begin, end) on consecutive ranges that cover [0, size), on `threads` threads; ranges are at least `grain` long.
/// Returns when all are done; rethrows the first exception of a worker.
void parallel_for(int64_t size, int64_t grain, int threads, const std::function<void(int64_t begin, int64_t end)>& body);

}  // namespace nmt
