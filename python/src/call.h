#pragma once

#include <nanobind/nanobind.h>

#include <chrono>
#include <exception>
#include <functional>
#include <thread>

#include "nmt/log.h"
#include "nmt/stop_token.h"

namespace nmt::python {

/// A call of the library: it works in the calling thread, without the interpreter's lock. Where the work asks whether
/// to stop, Python's signal handlers run. What a handler or a callback raises stops the work, and run() throws it when
/// the work has ended. It must outlive the work.
class Call {
 public:
  /// With the interpreter's lock held, as run().
  Call();
  Call(const Call&) = delete;
  Call& operator=(const Call&) = delete;

  /// For the work.
  const StopToken& stop() const { return stop_; }
  /// Sends the lines of the work to Python's logger "nmt".
  LogSink log();

  /// Returns what `work` returns, throws what it throws.
  template <typename Work>
  auto run(const Work& work) {
    try {
      const nanobind::gil_scoped_release released;
      auto result = work();
      if (!raised_) return result;
    } catch (...) {
      if (!raised_) throw;
    }
    std::rethrow_exception(raised_);
  }

  /// For the work, from any of its threads: calls a function of Python's. None is called after one that has raised
  /// something. Throws nothing.
  void call_back(const std::function<void()>& callback);

 private:
  void run_signal_handlers();
  bool succeeds(const std::function<void()>& python);

  std::thread::id thread_;  // which runs the signal handlers; none where this is not Python's main thread
  std::chrono::steady_clock::time_point next_look_ = {};
  StopToken stop_;
  bool callback_raised_ = false;
  std::exception_ptr raised_;  // the first that a callback or a signal handler raised
};

}  // namespace nmt::python
