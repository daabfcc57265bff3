#pragma once

#include <algorithm>
#include <cstdint>

#include "base/thread_pool.h"

namespace nmt {

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

}  // namespace nmt
