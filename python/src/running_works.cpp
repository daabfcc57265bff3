#include "running_works.h"

#include <nanobind/nanobind.h>
#include <pthread.h>

#include <algorithm>
#include <chrono>

#include "work.h"

namespace nmt::python {

namespace {

constexpr std::chrono::milliseconds kBetweenLooks{50};
constexpr std::chrono::seconds kForCallbacks{5};

RunningWorks* present = nullptr;

/// `threading` ends a thread for it without a word.
[[noreturn]] void end_thread() {
  PyErr_SetNone(PyExc_SystemExit);
  nanobind::raise_python_error();
}

}  // namespace

RunningWorks& RunningWorks::instance() {
  static const bool watched = [] {
    present = new RunningWorks;
    return pthread_atfork(nullptr, nullptr, [] { present = new RunningWorks; }) == 0;
  }();
  (void)watched;
  return *present;
}

void RunningWorks::add(Work& work) {
  {
    const std::lock_guard lock(mutex_);
    if (!ending_ || std::this_thread::get_id() == ended_by_) {
      works_.insert(&work);
      return;
    }
  }
  end_thread();
}

void RunningWorks::remove(Work& work) {
  {
    const std::lock_guard lock(mutex_);
    works_.erase(&work);
    changed_.notify_all();
  }
  if (is_ending()) end_thread();
}

void RunningWorks::stop_all() {
  {
    const std::lock_guard lock(mutex_);
    ending_ = true;
    ended_by_ = std::this_thread::get_id();
    nanobind::set_leak_warnings(false);  // what threads that Python ends hold is never given back
    for (Work* const work : works_) work->stop().request_stop();
  }
  auto since = std::chrono::steady_clock::now();
  for (;;) {
    {
      const nanobind::gil_scoped_release released;
      std::unique_lock lock(mutex_);
      if (changed_.wait_for(lock, kBetweenLooks, [this] { return works_.empty(); })) return;
      if (!std::ranges::all_of(works_, &Work::is_in_callback)) since = std::chrono::steady_clock::now();
    }
    if (std::chrono::steady_clock::now() - since > kForCallbacks) return;
    if (PyErr_CheckSignals() != 0) nanobind::raise_python_error();
  }
}

bool RunningWorks::is_ending() const {
  const std::lock_guard lock(mutex_);
  return ending_ && std::this_thread::get_id() != ended_by_;
}

}  // namespace nmt::python
