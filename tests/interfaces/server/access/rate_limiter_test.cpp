#include <gmock/gmock.h>

#include <optional>
#include <string>

#include "server/admission.h"

namespace nmt::rate_limiter_test {
namespace {

using namespace std::chrono_literals;
using testing::Eq;
using testing::Optional;

const RateLimiter::Clock::time_point kStart{};

TEST(RateLimiter, RequestsOfAMinute) {
  RateLimiter limiter;
  const RateLimit limit{.requests = 3};
  for (int i = 0; i < 3; ++i) EXPECT_EQ(limiter.admit("a", limit, 1'000'000, kStart), std::nullopt);
  EXPECT_THAT(limiter.admit("a", limit, 1, kStart), Optional(20)) << "a third of a minute for one more";
  EXPECT_THAT(limiter.admit("a", limit, 1, kStart + 19s), Optional(1));
  EXPECT_EQ(limiter.admit("a", limit, 1, kStart + 20s), std::nullopt);
  EXPECT_EQ(limiter.admit("b", limit, 1, kStart), std::nullopt) << "another client";
  for (int i = 0; i < 3; ++i) EXPECT_EQ(limiter.admit("a", limit, 1, kStart + 1h), std::nullopt);
  EXPECT_NE(limiter.admit("a", limit, 1, kStart + 1h), std::nullopt) << "no more than a minute's worth is saved up";
}

TEST(RateLimiter, CharactersOfAMinute) {
  RateLimiter limiter;
  const RateLimit limit{.characters = 600};
  EXPECT_EQ(limiter.admit("a", limit, 500, kStart), std::nullopt);
  EXPECT_THAT(limiter.admit("a", limit, 200, kStart), Optional(10));
  EXPECT_EQ(limiter.admit("a", limit, 200, kStart + 10s), std::nullopt);
  EXPECT_EQ(limiter.admit("a", limit, 1800, kStart + 2min), std::nullopt) << "a long one, when all is there";
  EXPECT_THAT(limiter.admit("a", limit, 600, kStart + 2min), Optional(180)) << "is paid for afterwards";
}

TEST(RateLimiter, NoLimit) {
  RateLimiter limiter;
  for (int i = 0; i < 1000; ++i) EXPECT_EQ(limiter.admit("a", {}, 1'000'000, kStart), std::nullopt);
}

TEST(RateLimiter, ManyClientsAreForgotten) {
  RateLimiter limiter;
  const RateLimit limit{.requests = 1};
  for (int i = 0; i < 250'000; ++i) {
    const auto client = std::to_string(i);
    ASSERT_EQ(limiter.admit(client, limit, 1, kStart + std::chrono::milliseconds(i)), std::nullopt);
    ASSERT_NE(limiter.admit(client, limit, 1, kStart + std::chrono::milliseconds(i)), std::nullopt);
  }
}

}  // namespace
}  // namespace nmt::rate_limiter_test
