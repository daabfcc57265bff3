#pragma once

#include <chrono>
#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <unordered_map>

namespace nmt {

/// What one client may ask in a minute; 0: as much as it likes.
struct RateLimit {
  int64_t requests = 0;
  int64_t characters = 0;
  bool any() const { return requests > 0 || characters > 0; }
};

/// Counts what clients ask: each has a minute's worth at first, and it fills up again evenly (token bucket). A request
/// of more characters than a minute's worth is admitted when the bucket is full, and has to be waited for after that.
/// Any thread may call it.
class RateLimiter {
 public:
  using Clock = std::chrono::steady_clock;

  /// Nothing where the request is admitted, and it is counted; else the seconds after which it would be. Of clients
  /// that are not known any more (there is a greatest number) the next request counts as the first.
  std::optional<int64_t> admit(const std::string& client, const RateLimit& limit, int64_t characters,
                               Clock::time_point now = Clock::now());

 private:
  struct Bucket {
    double requests = 0, characters = 0;  // left
    Clock::time_point filled;
  };
  void forget_full(Clock::time_point now);

  std::mutex mutex_;
  std::unordered_map<std::string, Bucket> buckets_;
};

}  // namespace nmt
