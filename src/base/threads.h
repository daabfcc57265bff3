#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string_view>

namespace nmt {

/// Threads to use when the user says 0: the processors this process may run on (affinity and cgroup quota counted).
int default_threads();

/// The processors that a cgroup's cpu.max ("QUOTA PERIOD", microseconds) grants, rounded up; nullopt for "max ...".
std::optional<int> processors_of_quota(std::string_view cpu_max);

/// Calls body(begin, end) on consecutive ranges that cover [0, size), on `threads` threads; ranges are at least `grain`
/// long (a smaller size is one range). The ranges depend on the arguments alone; the calling thread takes the first
/// one. Returns when all are done; rethrows the exception of the first range that failed.
void parallel_for(int64_t size, int64_t grain, int threads,
                  const std::function<void(int64_t begin, int64_t end)>& body);

}  // namespace nmt
