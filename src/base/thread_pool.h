#pragma once

#include <atomic>
#include <cstdint>
#include <thread>
#include <type_traits>
#include <vector>

namespace nmt {

/// Threads that help with pieces of work of some microseconds. Unlike a parallel region of OpenMP, nobody waits for a
/// thread that has not begun: the caller takes the pieces itself, and who is awake takes some of them. So work is never
/// slower than alone by more than one piece, however busy the machine is; an OpenMP region waits until the system has
/// given each of its threads a processor, which takes milliseconds where there are other programs. The caller takes
/// pieces from the front and a helper from the back: so each mostly has the pieces that it had the last time, and what
/// belongs to them (weights of a model, again at each step) is in its own cache.
class ThreadPool {
 public:
  /// helpers: threads beside the caller's, 0 or more. Throws MachineError where the system gives fewer.
  explicit ThreadPool(int helpers);
  ~ThreadPool();
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;

  /// body(i) for each i in [0, count), in no particular order, count below 2^20; returns when all are done. body must
  /// not throw. Any thread may call it: where the helpers are busy with another's work, or in a child after fork(), the
  /// caller does all of it.
  template <typename Body>
  void run(int64_t count, const Body& body) {
    static_assert(std::is_nothrow_invocable_v<const Body&, int64_t>, "body must be noexcept");
    run(count, &body, [](const void* own, int64_t i) noexcept { (*static_cast<const Body*>(own))(i); });
  }
  int helpers() const { return static_cast<int>(threads_.size()); }

 private:
  using Call = void (*)(const void* body, int64_t i) noexcept;
  void run(int64_t count, const void* body, Call call);
  enum class End { kFront, kBack };  // from which pieces are taken
  bool take_one(End end);
  void help(End end);
  void end();

  // Which work it is (upper 24 bits), and the pieces that are left: one behind the last (20) and the first (20), in one
  // word: who has taken a piece knows that the work is not over, so that its other fields are those of this work.
  std::atomic<uint64_t> state_ = 0;
  std::atomic<const void*> body_ = nullptr;
  std::atomic<Call> call_ = nullptr;
  std::atomic<int64_t> done_ = 0;
  std::atomic<bool> is_taken_ = false;  // by a caller
  std::atomic<int> asleep_ = 0;
  std::atomic<uint32_t> woken_ = 0;
  std::atomic<bool> stopping_ = false;
  std::vector<std::thread> threads_;
};

}  // namespace nmt
