#include "base/thread_pool.h"

#include <chrono>

#include "base/threads.h"

namespace nmt {
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
