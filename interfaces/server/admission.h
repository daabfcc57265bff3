#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <stop_token>
#include <string>
#include <string_view>
#include <unordered_map>

#include "server/http/http_message.h"

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

/// What a client must know to be served, and how much it may ask then.
struct ApiKey {
  std::string name;  ///< by which its client is known; never the key itself
  RateLimit limit = {};
};

/// The keys of a server. None means that everybody is served.
class ApiKeys {
 public:
  ApiKeys() = default;
  /// One key without limits. Throws Error where it is empty: that would let everybody in.
  static ApiKeys single(std::string_view key);
  /// A file with a line for each key: the key, requests a minute, characters a minute (- for as many as one likes),
  /// and a name, divided by white space; what is left out is not limited. Empty lines and those that begin with # do
  /// not count. Throws Error that names the line: also where two keys have one name.
  static ApiKeys from_file(const std::filesystem::path& file);

  bool empty() const { return keys_.empty(); }
  /// Null where there is no such key. Takes as long for one that is nearly right as for any other.
  const ApiKey* find(std::string_view key) const;

 private:
  void add(std::string_view key, ApiKey properties, std::string_view where);

  std::map<std::string, ApiKey> keys_;  // by the SHA-256 of the key
  std::set<std::string> names_;
};

struct AdmissionRules {
  ApiKeys keys = {};                            ///< of which clients must send one; none: everybody is served
  RateLimit limit = {};                         ///< of each address, where there are no keys
  int64_t max_characters = 100'000;             ///< of a request
  int64_t max_document_characters = 1'000'000;  ///< of the texts of a document
  void validate() const;                        ///< throws Error
};

enum class RequestKind : uint8_t { kText, kDocument };

/// The client that asks.
struct Caller {
  std::string address = {};        ///< IP address
  std::string key = {};            ///< sent in a header; the field api_key counts where it is empty
  std::stop_token cancelled = {};  ///< stops when nobody waits for the answer any more
  /// Share of the memory for what was sent: it is kept as long as any of that is.
  std::shared_ptr<const MemoryBudget::Share> share = {};
};

/// Decides whether a request is served. Any thread may call it.
class Admission {
 public:
  /// Throws Error for rules out of range.
  explicit Admission(AdmissionRules rules);

  /// Throws RequestError: 403 for the key, 400 for more characters than a request may have. Counts nothing.
  void check(const Caller& caller, const std::string& key_field, int64_t characters,
             RequestKind kind = RequestKind::kText) const;
  /// The same, and counts the request; 429 for a limit of the minute.
  void admit(const Caller& caller, const std::string& key_field, int64_t characters,
             RequestKind kind = RequestKind::kText);
  /// The name of who is served: one that no other client has. Throws RequestError 403 for the key.
  std::string client(const Caller& caller, const std::string& key_field) const;
  const AdmissionRules& rules() const { return rules_; }

 private:
  const ApiKey* key_of(const Caller& caller, const std::string& key_field) const;

  const AdmissionRules rules_;
  RateLimiter limiter_;
};

}  // namespace nmt
