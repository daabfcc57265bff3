#include "server/queue/fair_pool.h"

#include <gmock/gmock.h>

#include <atomic>
#include <future>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "server/fake_translator.h"

namespace nmt::fair_pool_test {
namespace {

using testing::ElementsAre;

class FairPoolTest : public testing::Test {
 protected:
  ~FairPoolTest() override { release(); }
  /// Keeps a thread until release(); returns when it has one.
  void hold(const std::string& client) {
    auto begun = std::make_shared<std::promise<void>>();
    pool_->submit(client, {}, [this, begun] {
      begun->set_value();
      released_.wait();
    });
    begun->get_future().wait();
  }
  void release() {
    if (!std::exchange(is_released_, true)) release_.set_value();
  }
  void submit(const std::string& client, const std::string& name, std::stop_token cancelled = {}) {
    pool_->submit(client, std::move(cancelled), [this, name] {
      const std::lock_guard lock(mutex_);
      done_.push_back(name);
    });
  }
  std::vector<std::string> done() {
    const std::lock_guard lock(mutex_);
    return done_;
  }

  std::promise<void> release_;
  std::shared_future<void> released_ = release_.get_future().share();
  bool is_released_ = false;
  std::mutex mutex_;
  std::vector<std::string> done_;  // with mutex_
  std::optional<FairPool> pool_;
};

TEST_F(FairPoolTest, ClientsTakeTurns) {
  pool_.emplace(1, 1);
  hold("many");
  for (const char* name : {"1", "2", "3"}) submit("many", name);
  for (const char* name : {"a", "b"}) submit("other", name);
  submit("stranger", "x");
  release();
  pool_.reset();
  EXPECT_THAT(done_, ElementsAre("a", "x", "1", "b", "2", "3"));
}

TEST_F(FairPoolTest, OneClientHasNoMoreThreadsThanItMay) {
  pool_.emplace(2, 1);
  hold("many");
  submit("many", "1");
  submit("stranger", "x");
  EXPECT_TRUE(test::eventually([&] { return done() == std::vector<std::string>{"x"}; }));
  release();
  pool_.reset();
  EXPECT_THAT(done_, ElementsAre("x", "1"));
}

TEST_F(FairPoolTest, WhatIsGivenUpGoesAtOnce) {
  pool_.emplace(1, 1);
  hold("client");
  std::stop_source leaves;
  auto held = std::make_shared<int>(0);
  const std::weak_ptr<int> still_held = held;
  std::atomic<bool> is_called = false;
  pool_->submit("client", leaves.get_token(), [&is_called, held = std::move(held)] { is_called = true; });
  submit("client", "stays");
  EXPECT_FALSE(still_held.expired());
  leaves.request_stop();
  EXPECT_TRUE(still_held.expired());
  release();
  pool_.reset();
  EXPECT_FALSE(is_called);
  EXPECT_THAT(done_, ElementsAre("stays"));
}

}  // namespace
}  // namespace nmt::fair_pool_test
