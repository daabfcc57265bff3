#pragma once

#include <nanobind/nanobind.h>

#include <atomic>
#include <condition_variable>
#include <exception>
#include <functional>
#include <mutex>
#include <optional>
#include <type_traits>
#include <utility>

#include "nmt/stop_token.h"

namespace nmt::python {

/// Work of the library, in a thread of its own and without the interpreter's lock. The thread that called from Python
/// waits for it; meanwhile it lets Python's signal handlers run and runs the callbacks. So other Python threads
/// continue, Ctrl-C comes through in a twentieth of a second, and callbacks are called in the thread that began the
/// work.
///
/// What a signal handler or a callback raises asks the work to stop; when it has, run() throws that. Where Python ends
/// beside a thread that it does not wait for (daemon), the work stops, too, and run() throws SystemExit: RunningWorks.
class Work {
 public:
  const StopToken& stop() const { return stop_; }
  /// Whether a function of Python's is being called now.
  bool is_in_callback() const { return is_in_callback_; }

  /// With the interpreter's lock held. Returns what `work` returns, throws what it throws.
  template <typename Function>
  auto run(Function&& work) {
    using Result = std::invoke_result_t<Function>;
    if constexpr (std::is_void_v<Result>) {
      run_to_end(work);
    } else {
      std::optional<Result> result;
      run_to_end([&] { result.emplace(work()); });
      return std::move(*result);
    }
  }

  /// For the threads of the work: runs `callback` in the thread of run(), with the interpreter's lock held, and returns
  /// when it is done. After a callback has raised something, none is called any more.
  void call(const std::function<void()>& callback);

 private:
  void run_to_end(const std::function<void()>& work);
  void look_after_python(const std::function<void()>* callback);
  bool succeeds(const std::function<void()>& python);  // what it throws is kept, the first of all

  StopToken stop_;
  std::mutex mutex_;
  std::condition_variable changed_;
  const std::function<void()>* callback_ = nullptr;  // waits to be run
  bool done_ = false;
  bool callback_raised_ = false;
  std::atomic<bool> is_in_callback_ = false;
  std::exception_ptr raised_;  // the first that a callback or a signal handler raised
};

}  // namespace nmt::python
