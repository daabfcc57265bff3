#pragma once

#include <condition_variable>
#include <mutex>
#include <set>
#include <thread>

namespace nmt::python {

class Work;

/// Works of this process that are under way, so that Python's exit can end those of daemon threads. When Python has
/// begun to finalize, it ends each thread that asks for the interpreter's lock, in the middle of C++ (until
/// Python 3.14). So stop_all() comes first, waits until all of them have gone back to Python, where they raise
/// SystemExit, and from then on no other thread begins one. They do not wait for the end of the process: exit
/// functions that run later may join them, or want a lock that they hold.
class RunningWorks {
 public:
  /// Never destroyed. A forked child has one of its own: threads of the parent are not there.
  static RunningWorks& instance();

  /// All with the interpreter's lock held. add() raises SystemExit in a thread that would begin when all is ending,
  /// remove() in one whose work was under way then.
  void add(Work& work);
  void remove(Work& work);

  /// From Python's `atexit`, with the interpreter's lock held: asks all works of other threads to stop and returns when
  /// they have, or all that are left have been in functions of Python's for five seconds: one that waits for something
  /// may never return. Throws what a signal handler raises.
  void stop_all();

  /// Whether Python ends and this is not the thread that ends it.
  bool is_ending() const;

 private:
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::set<Work*> works_;
  bool ending_ = false;
  std::thread::id ended_by_;
};

}  // namespace nmt::python
