#include "library/inner/call_threads.h"

#include <atomic>
#include <latch>
#include <thread>
#include <vector>

#include "base/threads.h"

namespace nmt::api {
namespace {

/// Begins the threads that work beside the calling one, all at a time, and ends them.
void try_threads(int threads) {
  std::latch end(1);
  std::vector<std::jthread> others;
  struct End {
    std::latch& latch;
    ~End() { latch.count_down(); }  // also where one cannot be begun
  } const at_end{end};
  for (int i = 1; i < threads; ++i) others.push_back(start_thread<std::jthread>([&end] { end.wait(); }));
}

}  // namespace

int threads_of_call(int wanted) {
  check_threads("threads", wanted);
  const int threads = wanted > 0 ? wanted : default_threads();
  static std::atomic<int> given = 1;
  int before = given;
  if (threads <= before) return threads;
  try_threads(threads);
  while (before < threads && !given.compare_exchange_weak(before, threads)) {
  }
  return threads;
}

}  // namespace nmt::api
