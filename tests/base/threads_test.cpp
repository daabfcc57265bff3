#include "base/threads.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <sched.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <fstream>
#include <functional>
#include <mutex>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "base/error.h"
#include "support.h"

namespace nmt::threads_test {
namespace {

using Range = std::pair<int64_t, int64_t>;

std::vector<Range> ranges_of(int64_t size, int64_t grain, int threads) {
  std::mutex mutex;
  std::vector<Range> ranges;
  parallel_for(size, grain, threads, [&](int64_t begin, int64_t end) {
    const std::scoped_lock lock(mutex);
    ranges.emplace_back(begin, end);
  });
  std::sort(ranges.begin(), ranges.end());
  return ranges;
}

TEST(ParallelFor, CoversEverythingOnceInRangesOfAtLeastTheGrain) {
  for (const int64_t size : {1, 2, 3, 7, 10, 100, 1001}) {
    for (const int64_t grain : {1, 2, 5, 50, 2000}) {
      for (const int threads : {1, 2, 3, 8}) {
        const auto ranges = ranges_of(size, grain, threads);
        ASSERT_LE(ranges.size(), static_cast<size_t>(threads));
        ASSERT_EQ(ranges.size(), std::clamp<size_t>(size / grain, 1, threads));
        int64_t expected = 0;
        for (const auto& [begin, end] : ranges) {
          EXPECT_EQ(begin, expected);
          EXPECT_GE(end - begin, std::min(grain, size));
          expected = end;
        }
        EXPECT_EQ(expected, size);
        EXPECT_EQ(ranges_of(size, grain, threads), ranges) << "and the same again";
      }
    }
  }
}

TEST(ParallelFor, SplitsEvenly) { EXPECT_EQ(ranges_of(10, 1, 3), (std::vector<Range>{{0, 4}, {4, 7}, {7, 10}})); }

TEST(ParallelFor, OfNothingCallsNothing) {
  EXPECT_TRUE(ranges_of(0, 1, 4).empty());
  EXPECT_TRUE(ranges_of(-1, 1, 4).empty());
}

TEST(ParallelFor, OneThreadOrFewerIsTheCaller) {
  for (const int threads : {-1, 0, 1}) {
    std::thread::id id;
    parallel_for(5, 1, threads, [&](int64_t, int64_t) { id = std::this_thread::get_id(); });
    EXPECT_EQ(id, std::this_thread::get_id()) << threads;
  }
}

TEST(ParallelFor, RunsOnSeveralThreadsAtOnce) {
  std::atomic<int> arrived = 0;
  // Each waits for the other: one thread alone would never end.
  parallel_for(2, 1, 2, [&](int64_t, int64_t) {
    ++arrived;
    while (arrived < 2) std::this_thread::yield();
  });
  EXPECT_EQ(arrived, 2);
}

TEST(ParallelFor, RethrowsTheErrorOfTheFirstRangeAfterAllAreDone) {
  for (const int threads : {1, 4}) {
    std::atomic<int64_t> done = 0;
    const auto body = [&](int64_t begin, int64_t end) {
      done += end - begin;
      if (end > 25) throw std::runtime_error("range at " + std::to_string(begin));
    };
    EXPECT_EQ(test::message_of<std::runtime_error>([&] { parallel_for(100, 1, threads, body); }),
              threads == 1 ? "range at 0" : "range at 25");
    EXPECT_EQ(done, 100);
  }
}

TEST(DefaultThreads, CountsTheProcessorsThatMayBeUsed) {
  EXPECT_GE(default_threads(), 1);
  EXPECT_LE(default_threads(), static_cast<int>(std::thread::hardware_concurrency()));
  int on_one = 0;
  std::thread([&] {  // a thread of its own keeps its affinity to itself
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(sched_getcpu(), &one);
    if (sched_setaffinity(0, sizeof one, &one) == 0) on_one = default_threads();
  })
      .join();
  EXPECT_EQ(on_one, 1);
}

TEST(DefaultThreads, ReadsTheQuotaOfAControlGroup) {
  EXPECT_EQ(processors_of_quota("max 100000"), std::nullopt);
  EXPECT_EQ(processors_of_quota("200000 100000"), 2);
  EXPECT_EQ(processors_of_quota("200001 100000\n"), 3);
  EXPECT_EQ(processors_of_quota("50000 100000"), 1);
  for (const char* bad : {"", "200000", "200000 ", "200000 x", "-1 100000", "1 0"}) {
    EXPECT_EQ(processors_of_quota(bad), std::nullopt) << bad;
  }
}

size_t memory_of_this_process() {
  size_t pages = 0;
  std::ifstream("/proc/self/statm") >> pages;
  return pages * static_cast<size_t>(::getpagesize());
}

/// In a child that gets no memory for the stacks of more than a few threads: the text of what body throws there. Empty
/// where memory cannot be limited: QEMU's user-mode emulation does not pass that limit on.
std::string thrown_without_threads(const std::function<void()>& body) {
  std::array<int, 2> ends{};
  EXPECT_EQ(::pipe(ends.data()), 0);
  const pid_t child = ::fork();
  if (child == 0) {
    const rlim_t bytes = memory_of_this_process() + (64 << 20);
    const rlimit memory{.rlim_cur = bytes, .rlim_max = bytes};
    rlimit held{};
    if (::setrlimit(RLIMIT_AS, &memory) != 0 || ::getrlimit(RLIMIT_AS, &held) != 0 || held.rlim_cur != bytes)
      ::_exit(0);
    std::string text = "nothing was thrown";
    try {
      body();
    } catch (const MachineError& error) {
      text = error.what();
    } catch (const std::exception& error) {
      text = std::string("another error: ") + error.what();
    }
    ::_exit(::write(ends[1], text.data(), text.size()) < 0);
  }
  ::close(ends[1]);
  std::string text(1000, ' ');
  text.resize(static_cast<size_t>(std::max<ssize_t>(0, ::read(ends[0], text.data(), text.size()))));
  ::close(ends[0]);
  int status = 0;
  ::waitpid(child, &status, 0);
  return WIFEXITED(status) ? text : "the program was aborted";
}

TEST(StartThread, SaysThatTheSystemGivesNoFurtherOne) {
  if (memory_of_this_process() >> 40) GTEST_SKIP() << "a sanitizer has its own memory for each thread";
  const std::string expected = "the system gives no further thread";
  const auto sleep = [] { std::this_thread::sleep_for(std::chrono::milliseconds(200)); };
  if (thrown_without_threads([] {}).empty()) GTEST_SKIP() << "the memory of a process cannot be limited here";
  EXPECT_THAT(thrown_without_threads([&] { parallel_for(900, 1, 900, [&](int64_t, int64_t) { sleep(); }); }),
              testing::StartsWith(expected));
  EXPECT_THAT(thrown_without_threads([] { const ThreadPool pool(900); }), testing::StartsWith(expected));
}

TEST(CheckThreads, AllowsAllProcessorsAndNoMoreThanTheMost) {
  for (const int64_t threads : {0, 1, kMostThreads}) EXPECT_NO_THROW(check_threads("--threads", threads));
  for (const int64_t threads : {-7, kMostThreads + 1, 100000})
    EXPECT_THAT(
        [&] { check_threads("--threads", threads); },
        testing::ThrowsMessage<Error>(fmt::format("--threads {}: use 1 to 1024, or 0 for all processors", threads)));
}

}  // namespace
}  // namespace nmt::threads_test
