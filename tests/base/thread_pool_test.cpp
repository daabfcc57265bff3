#include <gmock/gmock.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <thread>
#include <vector>

#include "base/threads.h"

namespace nmt {
namespace {

using testing::Each;
using testing::Eq;

TEST(ThreadPool, EachPieceIsDoneOnce) {
  ThreadPool pool(3);
  for (int round = 0; round < 2000; ++round) {
    std::vector<int> times(round % 37);
    pool.run(std::ssize(times), [&](int64_t i) noexcept { ++times[i]; });
    ASSERT_THAT(times, Each(Eq(1)));
  }
}

TEST(ThreadPool, HelpersSleepAndWakeAgain) {
  ThreadPool pool(2);
  for (int round = 0; round < 5; ++round) {
    std::atomic<int> sum = 0;
    pool.run(100, [&](int64_t i) noexcept { sum += static_cast<int>(i); });
    EXPECT_EQ(sum, 4950);
    std::this_thread::sleep_for(std::chrono::milliseconds(2));  // longer than their patience
  }
}

TEST(ThreadPool, HelpersTakeSome) {
  ThreadPool pool(1);
  const auto caller = std::this_thread::get_id();
  std::atomic<bool> helped = false;
  for (int round = 0; round < 1000 && !helped; ++round)
    pool.run(16, [&](int64_t) noexcept {
      if (std::this_thread::get_id() != caller) helped = true;
      std::this_thread::sleep_for(std::chrono::microseconds(100));
    });
  EXPECT_TRUE(helped);
}

TEST(ThreadPool, AHelperBeginsAtTheOtherEnd) {
  ThreadPool pool(1);
  const auto caller = std::this_thread::get_id();
  std::atomic<int64_t> first_of_caller = -1;
  std::atomic<int64_t> first_of_helper = -1;
  pool.run(8, [&](int64_t i) noexcept {
    int64_t none = -1;
    if (std::this_thread::get_id() != caller) {
      first_of_helper.compare_exchange_strong(none, i);
      return;
    }
    first_of_caller.compare_exchange_strong(none, i);
    while (first_of_helper < 0) std::this_thread::yield();
  });
  EXPECT_EQ(first_of_caller, 0);
  EXPECT_EQ(first_of_helper, 7);
}

TEST(ThreadPool, ManyCallers) {
  ThreadPool pool(2);
  std::vector<int64_t> sums(4);
  {
    std::vector<std::jthread> callers;
    for (int64_t& sum : sums)
      callers.emplace_back([&] {
        for (int round = 0; round < 500; ++round) {
          std::atomic<int64_t> own = 0;
          pool.run(20, [&](int64_t i) noexcept { own += i; });
          sum += own;
        }
      });
  }
  EXPECT_THAT(sums, Each(Eq(500 * 190)));
}

TEST(ThreadPool, NobodyToHelp) {
  ThreadPool pool(0);
  int sum = 0;
  pool.run(5, [&](int64_t i) noexcept { sum += static_cast<int>(i); });
  EXPECT_EQ(sum, 10);
}

// The helpers are not in the child.
TEST(ThreadPool, AChildDoesItAlone) {
  ThreadPool pool(2);
  pool.run(8, [](int64_t) noexcept {});
  const pid_t child = ::fork();
  if (child == 0) {
    int sum = 0;
    pool.run(5, [&](int64_t i) noexcept { sum += static_cast<int>(i); });
    ::_exit(sum);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 10);
}

}  // namespace
}  // namespace nmt
