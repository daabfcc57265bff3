#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <stop_token>
#include <thread>
#include <vector>

#include "base/process/log.h"
#include "serving/http/request_error.h"
#include "serving/question.h"
#include "serving/records/metrics.h"

namespace nmt {

struct QueueOptions {
  int64_t max_waiting = 1024;           ///< lines that may wait; a request that would make more is refused
  int64_t max_batch = 64;               ///< lines handed to the translator together
  std::chrono::milliseconds window{2};  ///< how long an idle translator waits for more when a request comes in
  void validate() const;                ///< throws Error
};

/// Nobody waits for the answers any more.
class GivenUp : public std::runtime_error {
 public:
  GivenUp() : std::runtime_error("nobody waits any more") {}
};

/// Joins the requests of many clients into batches for one translator, which a thread of the queue's own runs. A batch
/// is of one pair of languages. First come, first served, but for long requests: of those in the same pair that wait
/// each gets an even share of the next batch, and the pairs take turns.
class RequestQueue {
 public:
  /// The answers to a client's lines, in their order; or why there are none, and no answers: 500 where the translator
  /// failed at one of them. A line at which it fails spoils no other request.
  using Done = std::function<void(std::vector<Answer> answers, const RequestError* error)>;

  /// Borrows metrics and log: they must outlive the queue. Throws Error for options out of range.
  RequestQueue(TranslateFunction translate, QueueOptions options, Metrics& metrics, Logger& log);
  /// Answers what is waiting, then ends. What nobody waits for any more is not answered.
  ~RequestQueue();

  /// Takes a client's lines; done is called later, on the queue's thread, or at once where there is no line. Throws
  /// RequestError: 413 for more lines than may ever wait, 503 where too many are waiting already. Once given_up stops,
  /// lines that were not begun are dropped, a batch of nothing else is ended, and done is not called.
  void submit(std::vector<Question> questions, std::stop_token given_up, Done done);

  /// The same, waiting for the answers. Throws RequestError as submit does, for what it calls done with, and GivenUp.
  std::vector<Answer> answers_to(std::vector<Question> questions, std::stop_token given_up);

  const QueueOptions& options() const { return options_; }
  int64_t waiting() const;  ///< lines not yet handed to the translator, for which somebody waits

 private:
  using Clock = std::chrono::steady_clock;
  struct Request;
  struct Batch;

  void work();
  Batch take_batch();
  void translate(Batch& batch) const;
  void translate_alone(Batch& batch) const;
  std::vector<std::shared_ptr<Request>> deliver(Batch& batch);
  void report(Request& request) const;
  void drop(const std::shared_ptr<Request>& request);
  void drop_given_up();

  const TranslateFunction translate_;
  const QueueOptions options_;
  Metrics& metrics_;
  Logger& log_;

  mutable std::mutex mutex_;  // of what follows, and of the requests
  std::condition_variable arrived_;
  std::deque<std::shared_ptr<Request>> requests_;  // with lines not yet handed to the translator, in turn
  int64_t waiting_ = 0;                            // such lines
  bool stopping_ = false;
  std::thread worker_;
};

}  // namespace nmt
