#include "training/update_profiler.h"

#include <gtest/gtest.h>
#include <spdlog/sinks/ostream_sink.h>

#include <fstream>
#include <sstream>

#include "base/error.h"
#include "base/files/strict_json.h"
#include "support.h"

namespace nmt::update_profiler_test {
namespace {

TEST(OperationCosts, AreTheTimeOutsideInnerCalls) {
  const auto costs = operation_costs({{"inner", 1, 20, 30},
                                      {"outer", 1, 0, 100},
                                      {"inner", 1, 40, 90},
                                      {"innermost", 1, 50, 60},
                                      {"outer", 2, 25, 35},
                                      {"late", 1, 100, 103}});
  ASSERT_EQ(costs.size(), 4u);
  EXPECT_EQ(costs[0].name, "inner");
  EXPECT_EQ(costs[0].own, 10 + 50 - 10);
  EXPECT_EQ(costs[0].calls, 2);
  EXPECT_EQ(costs[1].name, "outer");
  EXPECT_EQ(costs[1].own, 100 - 10 - 50 + 10);
  EXPECT_EQ(costs[1].calls, 2);
  EXPECT_EQ(costs[2].name, "innermost");
  EXPECT_EQ(costs[2].own, 10);
  EXPECT_EQ(costs[3].name, "late");
  EXPECT_EQ(costs[3].own, 3);
}

TEST(OperationCosts, CallsThatBeginTogetherNestByTheirEnd) {
  const auto costs = operation_costs({{"inner", 1, 0, 40}, {"outer", 1, 0, 100}});
  EXPECT_EQ(costs[0].name, "outer");
  EXPECT_EQ(costs[0].own, 60);
}

TEST(UpdateProfiler, WritesATraceOfTheUpdatesAfterTheFirstTen) {
  const test::TemporaryDirectory folder;
  std::ostringstream lines;
  Logger log("test", std::make_shared<spdlog::sinks::ostream_sink_st>(lines));
  const auto trace = folder / "trace.json";
  UpdateProfiler profiler(2, trace, log);
  const auto update = [&](int64_t number, int64_t products) {
    for (int64_t i = 0; i < products; ++i) torch::mm(torch::ones({8, 8}), torch::ones({8, 8}));
    profiler.on_update({.epoch = 1, .update = number});
  };
  for (int64_t number = 1; number <= 10; ++number) update(number, 1);
  update(11, 3);
  update(12, 4);
  update(13, 1);
  profiler.on_end("done");

  const auto json = nlohmann::json::parse(std::ifstream(trace));
  int64_t products = 0;
  for (const auto& event : json.at("traceEvents")) products += event.value("name", "") == "aten::mm";
  EXPECT_EQ(products, 7);
  EXPECT_NE(lines.str().find("profile of 2 updates"), std::string::npos) << lines.str();
  EXPECT_NE(lines.str().find("aten::mm"), std::string::npos) << lines.str();
}

TEST(UpdateProfiler, SaysThatItSawNoneInsteadOfAProfileOfNone) {
  const test::TemporaryDirectory folder;
  std::ostringstream lines;
  Logger log("test", std::make_shared<spdlog::sinks::ostream_sink_st>(lines));
  UpdateProfiler profiler(2, folder / "trace.json", log);
  for (int64_t number = 1; number <= 10; ++number) profiler.on_update({.epoch = 1, .update = number});
  profiler.on_end("done");
  EXPECT_NE(lines.str().find("the run ended after 10 updates"), std::string::npos) << lines.str();
  EXPECT_EQ(lines.str().find("profile of"), std::string::npos) << lines.str();
}

TEST(UpdateProfiler, NeedsAnUpdate) {
  Logger log("test");
  EXPECT_THROW(UpdateProfiler(0, "trace.json", log), Error);
}

}  // namespace
}  // namespace nmt::update_profiler_test
