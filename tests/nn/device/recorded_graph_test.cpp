// Graph capture against a recorder that writes down what it is asked for.
#include "nn/device/recorded_graph.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <stdexcept>

namespace nmt::recorded_graph_test {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

std::vector<std::string> said;

class FakeRecorder final : public GraphRecorder {
 public:
  explicit FakeRecorder(torch::Device device) { said.push_back("recorder of " + device.str()); }
  void record(int64_t number, const std::function<void()>& work) override {
    said.push_back("begin" + of(number));
    try {
      work();
    } catch (...) {
      said.emplace_back("broken off");
      throw;
    }
    said.push_back("end" + of(number));
  }
  void replay(int64_t number) override { said.push_back("replay" + of(number)); }

 private:
  static std::string of(int64_t number) { return number == 0 ? "" : fmt::format(" {}", number); }
};

/// CUDA's own place is never touched: it may be there. A device of this type is not.
constexpr auto kType = torch::kPrivateUse1;

class RecordedGraphTest : public ::testing::Test {
 protected:
  RecordedGraphTest() {
    said.clear();
    set_graph_recorder(kType, [](torch::Device device) { return std::make_unique<FakeRecorder>(device); });
  }
  ~RecordedGraphTest() override { set_graph_recorder(kType, nullptr); }
  static constexpr auto kWork = [] { said.emplace_back("work"); };
};

TEST_F(RecordedGraphTest, RunsThenRecordsThenReplays) {
  RecordedGraph graph({kType, 0});
  graph.run(kWork);  // libraries make themselves ready; then the same once more, recorded
  EXPECT_EQ(said[1].substr(0, 8), "recorder");
  said.erase(said.begin() + 1);
  EXPECT_THAT(said, ElementsAre("work", "begin", "work", "end"));
  said.clear();
  graph.run(kWork);
  graph.run(kWork);
  EXPECT_THAT(said, ElementsAre("replay", "replay"));
}

TEST_F(RecordedGraphTest, WorksOfOtherNumbersAreOfTheSameRecorder) {
  RecordedGraph graph({kType, 0});
  for (const int64_t number : {2, 7, 2, 7}) graph.run(kWork, number);
  said.erase(said.begin() + 1);
  EXPECT_THAT(said, ElementsAre("work", "begin 2", "work", "end 2", "work", "begin 7", "work", "end 7", "replay 2",
                                "replay 7"));
}

TEST_F(RecordedGraphTest, EachGraphIsRecordedForItself) {
  RecordedGraph one({kType, 0}), other({kType, 0});
  one.run(kWork);
  said.clear();
  other.run(kWork);
  EXPECT_EQ(std::ranges::count(said, "begin"), 1);
}

TEST_F(RecordedGraphTest, WhatFailsIsNotReplayed) {
  RecordedGraph graph({kType, 0});
  EXPECT_THROW(graph.run([] { throw std::runtime_error("the first run"); }), std::runtime_error);
  EXPECT_THAT(said, IsEmpty());
  int runs = 0;
  testing::internal::CaptureStdout();
  testing::internal::CaptureStderr();
  graph.run([&] {
    if (++runs == 2) throw std::runtime_error("the recording");
  });
  EXPECT_EQ(testing::internal::GetCapturedStdout(), "") << "where translations may go";
  EXPECT_THAT(testing::internal::GetCapturedStderr(), testing::HasSubstr("one by one, which is slower: the recording"));
  EXPECT_EQ(said.back(), "broken off");
  said.clear();
  for (int i = 0; i < 2; ++i) graph.run(kWork);
  EXPECT_THAT(said, ElementsAre("work", "work"));
}

TEST_F(RecordedGraphTest, WithoutARecorderWorkRunsAsItIs) {
  for (const auto device : {torch::Device(torch::kCPU), torch::Device(torch::kMeta)}) {
    EXPECT_FALSE(records_graphs(device));
    RecordedGraph graph(device);
    said.clear();
    graph.run(kWork);
    graph.run(kWork);
    EXPECT_THAT(said, ElementsAre("work", "work"));
  }
  EXPECT_TRUE(records_graphs({kType, 0}));
}

}  // namespace
}  // namespace nmt::recorded_graph_test
