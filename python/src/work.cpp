#include "work.h"

#include <chrono>
#include <exception>
#include <thread>

namespace nb = nanobind;

namespace nmt::python {

namespace {

constexpr std::chrono::milliseconds kBetweenSignals{50};

}  // namespace

void Work::run_to_end(const std::function<void()>& work) {
  std::exception_ptr thrown;
  {
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
      look_after_python(callback);
      lock.lock();
      if (callback != nullptr) {
        callback_ = nullptr;
        changed_.notify_all();
      }
    }
    lock.unlock();
    worker.join();
  }
  if (raised_) throw std::move(*raised_);
  if (thrown) std::rethrow_exception(thrown);
}

void Work::look_after_python(const std::function<void()>* callback) {
  const nb::gil_scoped_acquire held;
  try {
    if (PyErr_CheckSignals() != 0) nb::raise_python_error();
    if (callback != nullptr && !raised_) (*callback)();
  } catch (nb::python_error& error) {
    if (!raised_) raised_.emplace(std::move(error));
    stop_.request_stop();
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
