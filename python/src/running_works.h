#pragma once

#include <condition_variable>
#include <mutex>
#include <set>
#include <thread>

namespace nmt::python {

class Work;

/// Works of this process that are under way, so that Python's exit can end those of daemon threads. When Python has
/// begun to finalize, it ends each thread that asks for the interpreter's lock, in the middle of C++ (until
/// Python 3.14). So none of these threads may ask: stop_all() comes first, and each of them then waits for the end of
/// the process.
class RunningWorks {
 public:
  /// Never destroyed. A forked child has one of its own: threads of the parent are not there.
  static RunningWorks& instance();

  /// With the interpreter's lock held. Never returns in a thread that would begin when all is ending.
  void add(Work& work);
  void remove(Work& work);

  /// From Python's `atexit`, with the interpreter's lock held: asks all works of other threads to stop and returns when
  /// they have.
  void stop_all();

  /// Whether the process ends and this is not the thread that ends it: it must not ask for the lock any more.
  bool is_ending() const;

  /// For such a thread, when its work has stopped: never returns.
  [[noreturn]] void wait_for_the_end(Work& work);

 private:
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::set<Work*> works_;
  bool ending_ = false;
  std::thread::id ended_by_;
};

}  // namespace nmt::python
