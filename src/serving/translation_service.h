#pragma once

#include <chrono>
#include <span>
#include <stop_token>
#include <string>

#include "base/process/log.h"
#include "base/strict_json.h"
#include "serving/api_keys.h"
#include "serving/http/http_reply.h"
#include "serving/metrics.h"
#include "serving/question.h"
#include "serving/rate_limiter.h"
#include "serving/request_body.h"
#include "serving/request_queue.h"

namespace nmt {

struct ServiceOptions {
  std::string source_language = "und", target_language = "und";  ///< codes; und is nobody knows which
  ApiKeys keys = {};                 ///< of which clients must send one; none: everybody is served
  RateLimit limit = {};              ///< of each address, where there are no keys
  int64_t max_characters = 100'000;  ///< of a request
  int64_t max_n_best = 1;            ///< translations of a line that can be had
  QueueOptions queue = {};
  void validate() const;  ///< throws Error
};

/// Who asks.
struct Caller {
  std::string address = {};       ///< IP address
  std::string key = {};           ///< sent in a header; the field api_key counts where it is empty
  std::stop_token given_up = {};  ///< stops when nobody waits for the answer any more
};

/// What the service does, without HTTP: fields of a request in, JSON out. The answers are LibreTranslate's but for
/// explain, which is our own (docs/serving.md). Any number of threads may call it.
class TranslationService {
 public:
  /// Borrows log. Throws Error for options out of range.
  TranslationService(TranslateFunction translate, ServiceOptions options, Logger& log);

  /// POST /translate. Answers later, on a thread of the service. Throws RequestError: 400 for fields that are wrong,
  /// 403 for the key, 413, 429 for a limit, 503.
  void translate(const RequestBody& body, const Caller& caller, HttpReply reply);
  /// POST /explain: each line with its n best, their scores and a picture of the attention. As translate does.
  void explain(const RequestBody& body, const Caller& caller, HttpReply reply);
  nlohmann::ordered_json languages() const;  ///< GET /languages
  nlohmann::ordered_json settings() const;   ///< GET /frontend/settings, for the page
  std::string metrics_text() const;          ///< GET /metrics
  Metrics& metrics() { return metrics_; }

 private:
  void admit(const RequestBody& body, const Caller& caller, std::span<const std::string> texts);
  void check_languages(const RequestBody& body) const;

  const ServiceOptions options_;
  Metrics metrics_;
  RateLimiter limiter_;
  RequestQueue queue_;  // ends first: its thread answers
};

/// An answer of status 200. Bytes that are no UTF-8, which a model may write, become U+FFFD.
HttpResponse json_response(const nlohmann::ordered_json& json);
HttpResponse error_response(const RequestError& error);

}  // namespace nmt
