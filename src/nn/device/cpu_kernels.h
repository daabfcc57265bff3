// How the CPU kernels are called: with which tensors, and on which threads.
#pragma once

#include <ATen/Parallel.h>
#include <omp.h>
#include <torch/types.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <optional>

#include "base/threads.h"
#include "nn/kernels/kernels.h"

namespace nmt {

/// Whether the toolkit's CPU kernels take this tensor: float32 or bfloat16 on the CPU.
inline bool has_cpu_kernel(const torch::Tensor& x) {
  return x.device().is_cpu() && (x.scalar_type() == torch::kFloat32 || x.scalar_type() == torch::kBFloat16);
}
/// Whether the CPU kernels of decoding take it: float32, no gradients asked for. In them no row's result depends on the
/// rows beside it.
inline bool has_decoding_kernel(const torch::Tensor& x) {
  return !torch::GradMode::is_enabled() && x.device().is_cpu() && x.scalar_type() == torch::kFloat32;
}
inline kernels::Type kernel_type(const torch::Tensor& x) {
  return x.scalar_type() == torch::kFloat32 ? kernels::Type::kFloat : kernels::Type::kBfloat16;
}

/// An undefined tensor as what torch::autograd::Function::apply takes for "none".
inline std::optional<torch::Tensor> optional_tensor(const torch::Tensor& x) {
  return x.defined() ? std::optional(x) : std::nullopt;
}

/// body(begin, end) for ranges of `each`, and of a quarter of it at the end, that make up [0, count), on all threads. A
/// thread that has done its range takes the next one: where a core is slower than another, or busy, the others do not
/// wait for it (at::parallel_for gives each thread the same share), and what is left at the end is short. body is
/// called in no particular order.
template <typename Body>
void parallel_ranges(int64_t count, int64_t each, const Body& body) {
  const int64_t ranges = (count + each - 1) / each, threads = std::min<int64_t>(at::get_num_threads(), ranges);
  const int64_t last = 2 * threads * each, quarter = std::max<int64_t>(1, each / 4);
  std::atomic<int64_t> next = 0;
  at::parallel_for(0, threads, 1, [&](int64_t, int64_t) {
    for (int64_t begin = next, end = 0; begin < count;) {
      end = std::min(count, begin + (count - begin > last ? each : quarter));
      if (!next.compare_exchange_weak(begin, end)) continue;  // begin is what another thread left
      body(begin, end);
      begin = next;
    }
  });
}

/// The threads beside the caller's: as many as at::get_num_threads() says at the first call, less one.
ThreadPool& step_threads();
/// Whether a caller of share_pieces() may have help: not inside a parallel region, nor where one thread was asked for.
bool may_share();

/// body(begin, end) for pieces of at least `grain` that make up [0, count): for work of some microseconds, as in a
/// search step of one sentence, where a parallel region would cost more than it brings (ThreadPool). body must be
/// noexcept.
template <typename Body>
void share_pieces(int64_t count, int64_t grain, const Body& body) {
  const int64_t pieces = count / std::max<int64_t>(1, grain);
  if (pieces <= 1 || !may_share()) return body(0, count);
  step_threads().run(pieces, [&](int64_t i) noexcept { body(count * i / pieces, count * (i + 1) / pieces); });
}

/// So many threads for what the calling thread shares out while this lives; other threads of the process keep theirs
/// (at::set_num_threads is for all that come later).
class ThreadLimit {
 public:
  explicit ThreadLimit(int threads) : before_(threads_of_this_one()) { omp_set_num_threads(threads); }
  ~ThreadLimit() { omp_set_num_threads(before_); }
  ThreadLimit(const ThreadLimit&) = delete;
  ThreadLimit& operator=(const ThreadLimit&) = delete;

 private:
  // LibTorch sets the number of a thread again when the thread first shares work out, and notes that for each library
  // that hides its symbols: this one has to have done so, or a number that is set now would be gone then.
  static int threads_of_this_one() {
    at::internal::lazy_init_num_threads();
    return at::get_num_threads();
  }

  int before_;
};

}  // namespace nmt
