#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string_view>
#include <system_error>
#include <thread>
#include <utility>

namespace nmt {

/// Threads to use when the user says 0: the processors this process may run on (affinity and cgroup quota counted).
int default_threads();

/// The processors that a cgroup's cpu.max ("QUOTA PERIOD", microseconds) grants, rounded up; nullopt for "max ...".
std::optional<int> processors_of_quota(std::string_view cpu_max);

/// More than a user may ask for take all memory of a machine before one of them fails.
constexpr int kMostThreads = 1024;
/// Throws Error for a number of threads that is neither 0 (all processors) nor in [1, kMostThreads]; option: its name.
void check_threads(std::string_view option, int64_t threads);

/// What there is to say where the system gives no thread. Throws MachineError.
[[noreturn]] void throw_no_thread(const std::system_error& error);

/// A std::thread or std::jthread that runs body. Throws MachineError where the system gives none; it is the caller's to
/// end those that it has.
template <typename Thread = std::thread, typename Body>
Thread start_thread(Body&& body) {
  try {
    return Thread(std::forward<Body>(body));
  } catch (const std::system_error& error) {
    throw_no_thread(error);
  }
}

/// Calls body(begin, end) on consecutive ranges that cover [0, size), on `threads` threads; ranges are at least `grain`
/// long (a smaller size is one range). The ranges depend on the arguments alone; the calling thread takes the first
/// one. Returns when all are done; rethrows the exception of the first range that failed. Throws MachineError where the
/// system gives too few threads, when those that began are done.
void parallel_for(int64_t size, int64_t grain, int threads,
                  const std::function<void(int64_t begin, int64_t end)>& body);

}  // namespace nmt
