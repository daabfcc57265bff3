#include "base/threads.h"

#include <fmt/format.h>
#include <sched.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <exception>
#include <string>
#include <thread>
#include <vector>

#include "base/control_groups.h"
#include "base/error.h"

namespace nmt {
namespace {

int processors_of_affinity() {
  cpu_set_t set;  // of 1,024; the kernel refuses it where it counts more
  if (::sched_getaffinity(0, sizeof set, &set) == 0) return CPU_COUNT(&set);
  return static_cast<int>(std::thread::hardware_concurrency());
}

}  // namespace

std::optional<int64_t> processors_of_quota(std::string_view cpu_max) {
  int64_t quota = 0, period = 0;
  const char* end = cpu_max.data() + cpu_max.size();
  const auto first = std::from_chars(cpu_max.data(), end, quota);
  if (first.ec != std::errc() || first.ptr == end || *first.ptr != ' ') return std::nullopt;
  if (std::from_chars(first.ptr + 1, end, period).ec != std::errc() || quota <= 0 || period <= 0) return std::nullopt;
  return (quota - 1) / period + 1;
}

int default_threads() {
  const int processors = std::max(1, processors_of_affinity());
  const auto quota = limit_of_control_groups("cpu.max", processors_of_quota);
  return static_cast<int>(std::min<int64_t>(processors, quota.value_or(processors)));
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

namespace {

constexpr int kBits = 20;
constexpr uint64_t kMask = (uint64_t{1} << kBits) - 1;
constexpr uint64_t kOneBehind = uint64_t{1} << kBits;
uint64_t front_of(uint64_t state) { return state & kMask; }
uint64_t behind_of(uint64_t state) { return (state >> kBits) & kMask; }  // one behind the last piece that is left
uint64_t number_of(uint64_t state) { return state >> (2 * kBits); }
bool has_pieces(uint64_t state) { return front_of(state) < behind_of(state); }

// A helper looks for more work for so long before it sleeps: longer than a search step of a small model has nothing to
// share, some 200 us, since each waking costs the caller a tenth of that.
constexpr auto kPatience = std::chrono::microseconds(400);
constexpr int kLooks = 64;  // between two looks at the clock

void pause() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

}  // namespace

ThreadPool::ThreadPool(int helpers) {
  try {
    for (int i = 0; i < helpers; ++i)
      threads_.push_back(start_thread([this, i] { help(i % 2 == 0 ? End::kBack : End::kFront); }));
  } catch (...) {
    end();  // those that there are; without a pool nobody else does
    throw;
  }
}

ThreadPool::~ThreadPool() { end(); }

void ThreadPool::end() {
  stopping_ = true;
  ++woken_;
  woken_.notify_all();
  for (auto& thread : threads_) thread.join();
}

/// False: no piece is left.
bool ThreadPool::take_one(End end) {
  uint64_t state = state_.load(std::memory_order_acquire);
  uint64_t after = 0;
  do {
    if (!has_pieces(state)) return false;
    after = end == End::kFront ? state + 1 : state - kOneBehind;
  } while (!state_.compare_exchange_weak(state, after, std::memory_order_acq_rel, std::memory_order_acquire));
  const uint64_t piece = end == End::kFront ? front_of(state) : behind_of(after);
  call_.load(std::memory_order_relaxed)(body_.load(std::memory_order_relaxed), static_cast<int64_t>(piece));
  done_.fetch_add(1, std::memory_order_release);
  return true;
}

void ThreadPool::run(int64_t count, const void* body, Call call) {
  if (count <= 1 || threads_.empty() || is_taken_.exchange(true, std::memory_order_acquire)) {
    for (int64_t i = 0; i < count; ++i) call(body, i);
    return;
  }
  body_.store(body, std::memory_order_relaxed);
  call_.store(call, std::memory_order_relaxed);
  done_.store(0, std::memory_order_relaxed);
  const uint64_t number = number_of(state_.load(std::memory_order_relaxed)) + 1;
  state_.store(number << (2 * kBits) | static_cast<uint64_t>(count) << kBits);
  if (asleep_.load() > 0) {  // both in one order with what help() does: either it sees the work, or this sees it asleep
    ++woken_;
    woken_.notify_all();
  }
  while (take_one(End::kFront)) {
  }
  // What others have taken is under way: a piece, at most.
  for (int looks = 0; done_.load(std::memory_order_acquire) < count; ++looks) {
    if (looks % kLooks == kLooks - 1)
      std::this_thread::yield();
    else
      pause();
  }
  is_taken_.store(false, std::memory_order_release);
}

void ThreadPool::help(End end) {
  using Clock = std::chrono::steady_clock;
  auto since = Clock::now();
  for (int looks = 0; !stopping_.load(std::memory_order_relaxed); ++looks) {
    if (take_one(end)) {
      since = Clock::now();
      continue;
    }
    pause();
    if (looks % kLooks != 0 || Clock::now() - since < kPatience) continue;
    const uint32_t woken = woken_.load();
    ++asleep_;
    if (!has_pieces(state_.load()) && !stopping_) woken_.wait(woken);
    --asleep_;
    since = Clock::now();
  }
}

}  // namespace nmt
