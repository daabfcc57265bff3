#include "work.h"

#include <cxxabi.h>
#include <unistd.h>

#include <chrono>
#include <exception>
#include <string>
#include <system_error>
#include <thread>

#include "nmt/error.h"
#include "running_works.h"

namespace nb = nanobind;

namespace nmt::python {

namespace {

constexpr std::chrono::milliseconds kBetweenSignals{50};

}  // namespace

void Work::run_to_end(const std::function<void()>& work) {
  RunningWorks& running = RunningWorks::instance();
  running.add(*this);
  std::exception_ptr thrown;
  try {
    const nb::gil_scoped_release released;
    std::thread worker([&] {
      try {
        work();
      } catch (...) {
        thrown = std::current_exception();
      }
      const std::lock_guard lock(mutex_);
      done_ = true;
      changed_.notify_all();
    });
    std::unique_lock lock(mutex_);
    while (!done_) {
      changed_.wait_for(lock, kBetweenSignals, [this] { return done_ || callback_ != nullptr; });
      if (done_) break;
      const auto* const callback = callback_;
      lock.unlock();
      if (!running.is_ending()) look_after_python(callback);
      lock.lock();
      if (callback != nullptr) {
        callback_ = nullptr;
        changed_.notify_all();
      }
    }
    lock.unlock();
    worker.join();
  } catch (const std::system_error& error) {  // of std::thread, before there is one
    running.remove(*this);
    throw MachineError(std::string("the system gives no further thread (") + error.code().message() +
                       "); raise the limits of processes (ulimit -u) and memory (ulimit -v)");
  }
  running.remove(*this);
  if (raised_) std::rethrow_exception(raised_);
  if (thrown) std::rethrow_exception(thrown);
}

void Work::look_after_python(const std::function<void()>* callback) {
  const nb::gil_scoped_acquire held;
  // First, so that no handler raises in the callback: it gets the figures of an update that is done in any case.
  succeeds([] {
    if (PyErr_CheckSignals() != 0) nb::raise_python_error();
  });
  if (callback == nullptr || callback_raised_) return;
  is_in_callback_ = true;
  callback_raised_ = !succeeds(*callback);
  is_in_callback_ = false;
}

bool Work::succeeds(const std::function<void()>& python) {
  try {
    python();
    return true;
  } catch (const abi::__forced_unwind&) {
    // Python ended, this thread wanted its lock (until Python 3.14): it waits here for the end of the process.
    for (;;) pause();
  } catch (...) {
    if (!raised_) raised_ = std::current_exception();
    stop_.request_stop();
    return false;
  }
}

void Work::call(const std::function<void()>& callback) {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return callback_ == nullptr; });  // that of another thread
  callback_ = &callback;
  changed_.notify_all();
  changed_.wait(lock, [&] { return callback_ != &callback; });
}

}  // namespace nmt::python
