#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <optional>
#include <string_view>
#include <system_error>
#include <thread>
#include <type_traits>
#include <utility>
#include <vector>

namespace nmt {

/// Threads to use when the user says 0: the processors this process may run on (affinity and cgroup quota counted).
int default_threads();

/// The processors that a cgroup's cpu.max ("QUOTA PERIOD", microseconds) grants, rounded up; nullopt for "max ...".
std::optional<int64_t> processors_of_quota(std::string_view cpu_max);

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
