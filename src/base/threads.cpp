#include "base/threads.h"

#include <fmt/format.h>
#include <sched.h>

#include <algorithm>
#include <charconv>
#include <exception>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

#include "base/error.h"

namespace nmt {
namespace {

int processors_of_affinity() {
  // The kernel refuses a set smaller than its own: try larger ones.
  for (int processors = 1024; processors <= 1 << 18; processors *= 4) {
    std::vector<cpu_set_t> set(CPU_ALLOC_SIZE(processors) / sizeof(cpu_set_t));
    const size_t bytes = set.size() * sizeof(cpu_set_t);
    if (sched_getaffinity(0, bytes, set.data()) == 0) return CPU_COUNT_S(bytes, set.data());
  }
  return static_cast<int>(std::thread::hardware_concurrency());
}

/// The smallest quota of this process's control group (version 2) and those above it.
std::optional<int> processors_of_cgroup() {
  std::filesystem::path group;
  std::ifstream groups("/proc/self/cgroup");
  for (std::string line; std::getline(groups, line);) {
    if (line.starts_with("0::/")) group = line.substr(4);
  }
  std::optional<int> smallest;
  for (;; group = group.parent_path()) {
    std::ifstream file(std::filesystem::path("/sys/fs/cgroup") / group / "cpu.max");
    std::string line;
    if (std::getline(file, line)) {
      const auto quota = processors_of_quota(line);
      if (quota) smallest = std::min(*quota, smallest.value_or(*quota));
    }
    if (group.empty()) return smallest;
  }
}

}  // namespace

std::optional<int> processors_of_quota(std::string_view cpu_max) {
  int64_t quota = 0, period = 0;
  const char* end = cpu_max.data() + cpu_max.size();
  const auto first = std::from_chars(cpu_max.data(), end, quota);
  if (first.ec != std::errc() || first.ptr == end || *first.ptr != ' ') return std::nullopt;
  if (std::from_chars(first.ptr + 1, end, period).ec != std::errc() || quota <= 0 || period <= 0) return std::nullopt;
  return static_cast<int>(std::min<int64_t>((quota - 1) / period + 1, 1 << 18));
}

int default_threads() {
  const int processors = std::max(1, processors_of_affinity());
  return std::min(processors, processors_of_cgroup().value_or(processors));
}

void check_threads(std::string_view option, int64_t threads) {
  if (threads < 0 || threads > kMostThreads)
    throw Error(fmt::format("{} {}: use 1 to {}, or 0 for all processors", option, threads, kMostThreads));
}

void throw_no_thread(const std::system_error& error) {
  throw MachineError(fmt::format(
      "the system gives no further thread ({}); use fewer threads, or raise the limits of processes (ulimit -u) and "
      "memory (ulimit -v)",
      error.code().message()));
}

void parallel_for(int64_t size, int64_t grain, int threads,
                  const std::function<void(int64_t begin, int64_t end)>& body) {
  if (size <= 0) return;
  const int64_t ranges = std::clamp<int64_t>(threads, 1, std::max<int64_t>(1, size / std::max<int64_t>(1, grain)));
  if (ranges == 1) return body(0, size);
  std::vector<std::exception_ptr> errors(ranges);
  // The first size % ranges ranges are one longer.
  const auto begin_of = [&](int64_t range) { return size / ranges * range + std::min(range, size % ranges); };
  const auto run = [&](int64_t range) {
    try {
      body(begin_of(range), begin_of(range + 1));
    } catch (...) {
      errors[range] = std::current_exception();
    }
  };
  {
    std::vector<std::jthread> workers;  // joined at the end of the block, also if a thread cannot be made
    workers.reserve(ranges - 1);
    for (int64_t range = 1; range < ranges; ++range)
      workers.push_back(start_thread<std::jthread>([&run, range] { run(range); }));
    run(0);
  }
  for (const auto& error : errors) {
    if (error) std::rethrow_exception(error);
  }
}

}  // namespace nmt
