#include "text/sentence_queue.h"

#include <gmock/gmock.h>

#include <string>

namespace nmt::sentence_queue_test {
namespace {

using testing::ElementsAre;
using Lengths = ListQueue<std::string, size_t>;

TEST(SentenceQueue, AHandleIsFinishedOnceOrDropped) {
  const std::string request = "a";
  std::vector<std::optional<size_t>> done;
  const auto note = [&](std::optional<size_t> length) { done.push_back(length); };
  {
    Lengths::Handle first(request, {}, note), second(request, {}, note);
    EXPECT_FALSE(first.cancelled());
    Lengths::Handle moved = std::move(first);
    EXPECT_TRUE(done.empty());
    moved.finish(moved.request().size());
  }
  EXPECT_THAT(done, ElementsAre(1, std::nullopt));
}

TEST(SentenceQueue, AListGivesEachOnceAndKeepsTheResultsInOrder) {
  const std::vector<std::string> requests = {"a", "bb", "ccc"};
  Lengths queue(requests);
  auto taken = queue.take(2);
  EXPECT_EQ(queue.waiting(), 1);
  for (auto& last : queue.take(2)) last.finish(last.request().size());
  std::ranges::swap(taken.front(), taken.back());
  for (auto& one : taken) one.finish(one.request().size());
  EXPECT_TRUE(queue.take(1).empty());
  EXPECT_FALSE(queue.wait());
  EXPECT_THAT(queue.results(), ElementsAre(1, 2, 3));
}

TEST(SentenceQueue, AListGivesNothingMoreOnceOneIsDropped) {
  const std::vector<std::string> requests = {"a", "bb", "ccc"};
  std::stop_source client;
  Lengths queue(requests, client.get_token());
  auto taken = queue.take(2);
  client.request_stop();
  EXPECT_TRUE(taken.front().cancelled());
  taken.front().finish(1);
  taken.clear();
  EXPECT_TRUE(queue.take(1).empty());
  EXPECT_THAT(queue.results(), ElementsAre(1, std::nullopt, std::nullopt));
}

}  // namespace
}  // namespace nmt::sentence_queue_test
