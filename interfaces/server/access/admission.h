#pragma once

#include <cstdint>
#include <memory>
#include <stop_token>
#include <string>

#include "server/access/api_keys.h"
#include "server/access/rate_limiter.h"
#include "server/http/memory_budget.h"

namespace nmt {

struct AdmissionRules {
  ApiKeys keys = {};                            ///< of which clients must send one; none: everybody is served
  RateLimit limit = {};                         ///< of each address, where there are no keys
  int64_t max_characters = 100'000;             ///< of a request
  int64_t max_document_characters = 1'000'000;  ///< of the texts of a document
  void validate() const;                        ///< throws Error
};

enum class RequestKind : uint8_t { kText, kDocument };

/// Who asks.
struct Caller {
  std::string address = {};       ///< IP address
  std::string key = {};           ///< sent in a header; the field api_key counts where it is empty
  std::stop_token given_up = {};  ///< stops when nobody waits for the answer any more
  /// Of the memory for what was sent: it is kept as long as any of that is.
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
