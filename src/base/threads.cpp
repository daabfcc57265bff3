#include "base/threads.h"

#include <fmt/format.h>
#include <sched.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <condition_variable>
#include <exception>
#include <filesystem>
#include <fstream>
#include <mutex>
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

namespace {

void run_alone(const PipelineStages& stages) {
  while (stages.read(0)) {
    stages.transform(0, 0);
    if (!stages.write(0)) return;
  }
}

/// Items are numbered; item n lies in slot n % slots. Behind each other go: written, transformed or at work, read.
class Pipeline {
 public:
  Pipeline(const PipelineStages& stages, int64_t slots) : stages_(stages), slots_(slots), items_(slots) {}

  void run(int threads) {
    std::vector<std::jthread> helpers;  // joined at the end of the block, after they were told to stop
    const StopAtEnd stop{*this};
    for (int worker = 1; worker < threads; ++worker)
      helpers.push_back(start_thread<std::jthread>([this, worker] { help(worker); }));
    std::unique_lock lock(mutex_);
    while (!is_over()) {
      if (is_next_done()) {
        if (!write(lock)) return;
      } else if (!read_or_transform(lock, 0)) {
        changed_.wait(lock);
      }
    }
  }

 private:
  struct Item {
    bool done = false;
    std::exception_ptr error = nullptr;
  };
  struct StopAtEnd {
    Pipeline& pipeline;
    ~StopAtEnd() {
      const std::lock_guard lock(pipeline.mutex_);
      pipeline.stopped_ = true;
      pipeline.changed_.notify_all();
    }
  };

  Item& item(int64_t number) { return items_[static_cast<size_t>(number % slots_)]; }
  bool is_over() const { return read_ended_ && written_ == read_; }
  bool is_next_done() { return written_ < read_ && item(written_).done; }

  void help(int worker) {
    std::unique_lock lock(mutex_);
    while (!stopped_ && !is_over()) {
      if (!read_or_transform(lock, worker)) changed_.wait(lock);
    }
  }

  /// False if there is nothing to do at the moment. Reading comes first: all others would wait for it.
  bool read_or_transform(std::unique_lock<std::mutex>& lock, int worker) {
    if (!reading_ && !read_ended_ && read_ < written_ + slots_) {
      read(lock);
    } else if (claimed_ < read_) {
      transform(lock, worker);
    } else {
      return false;
    }
    changed_.notify_all();
    return true;
  }

  void read(std::unique_lock<std::mutex>& lock) {
    Item next;
    bool is_item = true;
    reading_ = true;
    lock.unlock();
    try {
      is_item = stages_.read(read_ % slots_);  // only the one who reads changes read_
    } catch (...) {
      next = {.done = true, .error = std::current_exception()};
    }
    lock.lock();
    reading_ = false;
    read_ended_ = !is_item || next.error;
    if (!is_item) return;
    item(read_++) = next;
  }

  void transform(std::unique_lock<std::mutex>& lock, int worker) {
    const int64_t number = claimed_++;
    if (item(number).done) return;  // its reading failed
    lock.unlock();
    std::exception_ptr error;
    try {
      stages_.transform(number % slots_, worker);
    } catch (...) {
      error = std::current_exception();
    }
    lock.lock();
    item(number) = {.done = true, .error = error};
  }

  /// False to stop.
  bool write(std::unique_lock<std::mutex>& lock) {
    if (item(written_).error) std::rethrow_exception(item(written_).error);
    lock.unlock();
    const bool goes_on = stages_.write(written_ % slots_);  // only the calling thread changes written_
    lock.lock();
    ++written_;
    changed_.notify_all();
    return goes_on;
  }

  const PipelineStages& stages_;
  const int64_t slots_;
  std::vector<Item> items_;
  std::mutex mutex_;
  std::condition_variable changed_;
  int64_t read_ = 0, claimed_ = 0, written_ = 0;
  bool reading_ = false, read_ended_ = false, stopped_ = false;
};

}  // namespace

void run_ordered_pipeline(const PipelineStages& stages, int threads, int64_t slots) {
  if (threads <= 1) return run_alone(stages);
  Pipeline(stages, std::max<int64_t>(slots, 1)).run(threads);
}

}  // namespace nmt
