#include <gmock/gmock.h>

#include <atomic>
#include <chrono>
#include <numeric>
#include <stdexcept>
#include <thread>
#include <vector>

#include "base/threads.h"
#include "support.h"

namespace nmt::ordered_pipeline_test {
namespace {

using testing::ElementsAreArray;

std::vector<int64_t> numbers(int64_t end) {
  std::vector<int64_t> result(static_cast<size_t>(end));
  std::iota(result.begin(), result.end(), 0);
  return result;
}

/// Squares 0, 1, 2, ...; notes what was read and written.
struct Squares {
  int64_t items = 0, slots = 4;
  std::vector<int64_t> places = std::vector<int64_t>(static_cast<size_t>(slots), -1);
  std::atomic<int64_t> read = 0, written = 0, most_in_flight = 0;
  std::function<void(int64_t number)> on_read = [](int64_t) {}, on_transform = [](int64_t) {};
  std::function<bool(int64_t number)> on_write = [](int64_t) { return true; };
  std::vector<int64_t> result = {};

  void run(int threads) {
    const PipelineStages stages{.read =
                                    [this](int64_t slot) {
                                      if (read == items) return false;
                                      on_read(read);
                                      places.at(static_cast<size_t>(slot)) = read++;
                                      most_in_flight = std::max<int64_t>(most_in_flight, read - written);
                                      return true;
                                    },
                                .transform =
                                    [this](int64_t slot, int) {
                                      auto& place = places.at(static_cast<size_t>(slot));
                                      on_transform(place);
                                      place *= place;
                                    },
                                .write =
                                    [this](int64_t slot) {
                                      result.push_back(places.at(static_cast<size_t>(slot)));
                                      const bool goes_on = on_write(written);
                                      ++written;
                                      return goes_on;
                                    }};
    run_ordered_pipeline(stages, threads, slots);
  }
  std::vector<int64_t> expected(int64_t end) const {
    auto squares = numbers(end);
    for (auto& number : squares) number *= number;
    return squares;
  }
};

void sleep_a_little(int64_t number) { std::this_thread::sleep_for(std::chrono::microseconds(number * 37 % 11 * 50)); }

TEST(OrderedPipeline, WritesInOrderWhateverIsSlow) {
  for (const int threads : {-1, 0, 1, 2, 3, 8}) {
    for (const int64_t items : {0, 1, 3, 4, 5, 200}) {
      Squares squares{.items = items, .on_transform = sleep_a_little};
      squares.run(threads);
      EXPECT_THAT(squares.result, ElementsAreArray(squares.expected(items))) << threads << " threads";
    }
  }
}

TEST(OrderedPipeline, TransformsOnAllThreadsAtOnce) {
  std::atomic<int> arrived = 0;
  // Each of the first three waits for the two others: fewer threads would never end.
  Squares squares{.items = 3, .on_transform = [&](int64_t) {
                    ++arrived;
                    while (arrived < 3) std::this_thread::yield();
                  }};
  squares.run(3);
  EXPECT_THAT(squares.result, ElementsAreArray(squares.expected(3)));
}

TEST(OrderedPipeline, WorkersAreNumbered) {
  std::atomic<int> arrived = 0;
  std::vector<int> workers(2, -1);
  int64_t left = 2;
  run_ordered_pipeline({.read = [&](int64_t) { return left-- > 0; },
                        .transform =
                            [&](int64_t slot, int worker) {
                              workers.at(static_cast<size_t>(slot)) = worker;
                              ++arrived;
                              while (arrived < 2) std::this_thread::yield();
                            },
                        .write = [](int64_t) { return true; }},
                       2, 2);
  EXPECT_THAT(workers, testing::UnorderedElementsAre(0, 1));
}

TEST(OrderedPipeline, WritesOnTheCallingThread) {
  for (const int threads : {1, 3}) {
    const auto here = std::this_thread::get_id();
    Squares squares{.items = 50, .on_transform = sleep_a_little, .on_write = [&](int64_t) {
                      EXPECT_EQ(std::this_thread::get_id(), here);
                      return true;
                    }};
    squares.run(threads);
    EXPECT_EQ(squares.result.size(), 50u);
  }
}

TEST(OrderedPipeline, HoldsNoMoreThanItsSlots) {
  for (const int threads : {1, 2, 5}) {
    // The first item is slow: all others come to wait behind it.
    Squares squares{.items = 60, .slots = 6, .on_transform = [](int64_t number) {
                      if (number == 0) std::this_thread::sleep_for(std::chrono::milliseconds(30));
                    }};
    squares.run(threads);
    EXPECT_LE(squares.most_in_flight, threads == 1 ? 1 : 6) << threads;
    EXPECT_THAT(squares.result, ElementsAreArray(squares.expected(60)));
  }
}

TEST(OrderedPipeline, TheErrorOfTheEarliestItemCounts) {
  for (const int threads : {1, 2, 4}) {
    for (const bool at_reading : {false, true}) {
      // Item 7 fails late, 8 and 9 at once; reading fails at 10.
      Squares squares{.items = 20,
                      .slots = 12,
                      .on_read =
                          [&](int64_t number) {
                            if (number == (at_reading ? 6 : 10)) throw std::runtime_error("reading");
                          },
                      .on_transform =
                          [](int64_t number) {
                            if (number == 7) std::this_thread::sleep_for(std::chrono::milliseconds(20));
                            if (number >= 7) throw std::runtime_error("item " + std::to_string(number));
                          }};
      EXPECT_EQ(test::message_of<std::runtime_error>([&] { squares.run(threads); }), at_reading ? "reading" : "item 7");
      EXPECT_THAT(squares.result, ElementsAreArray(squares.expected(at_reading ? 6 : 7))) << threads;
    }
  }
}

TEST(OrderedPipeline, AnErrorOfWritingEndsIt) {
  for (const int threads : {1, 3}) {
    Squares squares{.items = 1000, .on_write = [](int64_t number) {
                      if (number == 5) throw std::runtime_error("disk full");
                      return true;
                    }};
    EXPECT_EQ(test::message_of<std::runtime_error>([&] { squares.run(threads); }), "disk full");
    EXPECT_EQ(squares.result.size(), 6u);
    EXPECT_LE(squares.read, 5 + squares.slots) << "no item was read for nothing";
  }
}

TEST(OrderedPipeline, StopsWhereWritingSaysSo) {
  for (const int threads : {1, 3}) {
    Squares squares{.items = 1000, .on_write = [](int64_t number) { return number < 5; }};
    squares.run(threads);
    EXPECT_THAT(squares.result, ElementsAreArray(squares.expected(6)));
    EXPECT_LE(squares.read, 6 + squares.slots);
  }
}

}  // namespace
}  // namespace nmt::ordered_pipeline_test
