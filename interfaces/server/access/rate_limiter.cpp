#include "server/access/rate_limiter.h"

#include <algorithm>
#include <cmath>

namespace nmt {
namespace {

constexpr size_t kMostClients = 100'000;

/// Seconds until so much is there, at `limit` a minute; 0 where it is.
double wait_for(double wanted, double left, int64_t limit) {
  if (limit == 0 || left >= wanted) return 0;
  return (wanted - left) * 60 / static_cast<double>(limit);
}

}  // namespace

std::optional<int64_t> RateLimiter::admit(const std::string& client, const RateLimit& limit, int64_t characters,
                                          Clock::time_point now) {
  if (!limit.any()) return {};
  const std::lock_guard lock(mutex_);
  if (buckets_.size() >= kMostClients) forget_full(now);
  const auto all_requests = static_cast<double>(limit.requests), all_characters = static_cast<double>(limit.characters);
  const auto [found, is_new] = buckets_.try_emplace(client, Bucket{all_requests, all_characters, now});
  Bucket& bucket = found->second;
  if (!is_new) {
    const double minutes = std::chrono::duration<double, std::ratio<60>>(now - bucket.filled).count();
    bucket.requests = std::min(bucket.requests + minutes * all_requests, all_requests);
    bucket.characters = std::min(bucket.characters + minutes * all_characters, all_characters);
    bucket.filled = now;
  }
  const double wanted = std::min(static_cast<double>(characters), all_characters);
  const double seconds =
      std::max(wait_for(1, bucket.requests, limit.requests), wait_for(wanted, bucket.characters, limit.characters));
  if (seconds > 0) return static_cast<int64_t>(std::ceil(seconds - 1e-6));
  bucket.requests -= 1;
  bucket.characters -= static_cast<double>(characters);
  return {};
}

/// After a minute without a request everything is full again, but for who asked for more than a minute's worth.
void RateLimiter::forget_full(Clock::time_point now) {
  std::erase_if(buckets_, [&](const auto& one) { return now - one.second.filled > std::chrono::minutes(1); });
  if (buckets_.size() >= kMostClients) buckets_.clear();
}

}  // namespace nmt
