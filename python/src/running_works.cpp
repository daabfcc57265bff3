#include "running_works.h"

#include <nanobind/nanobind.h>
#include <pthread.h>
#include <unistd.h>

#include "work.h"

namespace nmt::python {

namespace {

RunningWorks* present = nullptr;

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
  const nanobind::gil_scoped_release released;
  wait_for_the_end(work);
}

void RunningWorks::remove(Work& work) {
  const std::lock_guard lock(mutex_);
  works_.erase(&work);
  changed_.notify_all();
}

void RunningWorks::stop_all() {
  {
    const std::lock_guard lock(mutex_);
    ending_ = true;
    ended_by_ = std::this_thread::get_id();
    if (!works_.empty()) nanobind::set_leak_warnings(false);  // what those threads hold is never given back
    for (Work* const work : works_) work->stop().request_stop();
  }
  const nanobind::gil_scoped_release released;
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return works_.empty(); });
}

bool RunningWorks::is_ending() const {
  const std::lock_guard lock(mutex_);
  return ending_ && std::this_thread::get_id() != ended_by_;
}

void RunningWorks::wait_for_the_end(Work& work) {
  remove(work);
  for (;;) ::pause();
}

}  // namespace nmt::python
