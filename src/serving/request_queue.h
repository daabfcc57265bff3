#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <span>
#include <thread>
#include <vector>

#include "base/process/log.h"
#include "serving/metrics.h"
#include "serving/question.h"

namespace nmt {

struct QueueOptions {
  int64_t max_waiting = 1024;           ///< lines that may wait; a request that would make more is refused
  int64_t max_batch = 64;               ///< lines handed to the translator together
  std::chrono::milliseconds window{2};  ///< how long an idle translator waits for more when a request comes in
  void validate() const;                ///< throws Error
};

/// Joins the requests of many clients into batches for one translator, which a thread of the queue's own runs. First
/// come, first served, but for long requests: each request that waits gets an even share of the next batch.
class RequestQueue {
 public:
  using Clock = std::chrono::steady_clock;

  /// Borrows metrics and log: they must outlive the queue. Throws Error for options out of range.
  RequestQueue(TranslateFunction translate, QueueOptions options, Metrics& metrics, Logger& log);
  /// Answers what is waiting, then ends.
  ~RequestQueue();

  /// The answers to a client's lines, in their order; waits for them. Throws RequestError: 413 for more lines than may
  /// ever wait, 503 where too many are waiting already, 504 when the deadline has passed (lines that were not begun are
  /// dropped), 500 when the translator failed at one of them. A line at which it fails spoils no other request.
  std::vector<Answer> answer(std::vector<Question> questions, Clock::time_point deadline);

  int64_t waiting() const;  ///< lines not yet handed to the translator

 private:
  struct Request;
  struct Batch;

  void work();
  Batch take_batch();
  void translate(Batch& batch) const;
  void translate_alone(Batch& batch) const;
  void deliver(Batch& batch);
  void drop(const std::shared_ptr<Request>& request);

  const TranslateFunction translate_;
  const QueueOptions options_;
  Metrics& metrics_;
  Logger& log_;

  mutable std::mutex mutex_;  // of what follows, and of the requests
  std::condition_variable arrived_;
  std::deque<std::shared_ptr<Request>> requests_;  // those with lines that wait
  int64_t waiting_ = 0;
  bool stopping_ = false;
  std::thread worker_;
};

}  // namespace nmt
