#pragma once

#include <ATen/Parallel.h>
#include <omp.h>

namespace nmt {

/// So many threads for what the calling thread shares out while this lives; other threads of the process keep theirs
/// (at::set_num_threads is for all that come later).
class ThreadLimit {
 public:
  explicit ThreadLimit(int threads) : before_(threads_of_this_one()) { omp_set_num_threads(threads); }
  ~ThreadLimit() { omp_set_num_threads(before_); }
  ThreadLimit(const ThreadLimit&) = delete;
  ThreadLimit& operator=(const ThreadLimit&) = delete;

 private:
  // LibTorch sets the number of a thread anew when the thread first shares work out, and notes that for each library
  // that hides its symbols: this one has to have done so, or a number that is set now would be gone then.
  static int threads_of_this_one() {
    at::internal::lazy_init_num_threads();
    return at::get_num_threads();
  }

  int before_;
};

}  // namespace nmt
