#include "nn/device/cpu_kernels.h"

#include <ATen/Parallel.h>

namespace nmt {

ThreadPool& step_threads() {
  static auto* pool = new ThreadPool(at::get_num_threads() - 1);  // never destroyed: searches may outlive main()
  return *pool;
}

bool may_share() { return at::get_num_threads() > 1 && !at::in_parallel_region(); }

}  // namespace nmt
