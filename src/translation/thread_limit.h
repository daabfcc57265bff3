#pragma once

#include <ATen/Parallel.h>
#include <omp.h>

namespace nmt {

/// So many threads for what the calling thread shares out while this lives; other threads of the process keep theirs
/// (at::set_num_threads is for all that come later).
class ThreadLimit {
 public:
  explicit ThreadLimit(int threads) : before_(at::get_num_threads()) { omp_set_num_threads(threads); }
  ~ThreadLimit() { omp_set_num_threads(before_); }
  ThreadLimit(const ThreadLimit&) = delete;
  ThreadLimit& operator=(const ThreadLimit&) = delete;

 private:
  int before_;
};

}  // namespace nmt
