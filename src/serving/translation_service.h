#pragma once

#include <chrono>
#include <string>

#include "base/process/log.h"
#include "base/strict_json.h"
#include "serving/metrics.h"
#include "serving/question.h"
#include "serving/request_body.h"
#include "serving/request_queue.h"

namespace nmt {

struct ServiceOptions {
  std::string source_language = "und", target_language = "und";  ///< codes; und is nobody knows which
  std::string api_key = {};                                      ///< that clients must send; empty: none
  int64_t max_n_best = 1;                                        ///< translations of a line that can be had
  std::chrono::milliseconds time_limit{30'000};                  ///< from a request to its answer
  QueueOptions queue = {};
  void validate() const;  ///< throws Error
};

/// What the service does, without HTTP: fields of a request in, JSON out. The answers are LibreTranslate's but for
/// explain, which is our own (docs/serving.md). Any number of threads may call it.
class TranslationService {
 public:
  /// Borrows log. Throws Error for options out of range.
  TranslationService(TranslateFunction translate, ServiceOptions options, Logger& log);

  /// POST /translate. Throws RequestError: 400 for fields that are wrong, 403 for the key, 413, 500, 503, 504.
  nlohmann::ordered_json translate(const RequestBody& body);
  /// POST /explain: each line with its n best, their scores and a picture of the attention. Throws as translate does.
  nlohmann::ordered_json explain(const RequestBody& body);
  nlohmann::ordered_json languages() const;  ///< GET /languages
  nlohmann::ordered_json settings() const;   ///< GET /frontend/settings, for the page
  std::string metrics_text() const;          ///< GET /metrics
  Metrics& metrics() { return metrics_; }

 private:
  using Clock = RequestQueue::Clock;
  void check_key(const RequestBody& body) const;
  void check_languages(const RequestBody& body) const;

  const ServiceOptions options_;
  Metrics metrics_;
  RequestQueue queue_;
};

}  // namespace nmt
