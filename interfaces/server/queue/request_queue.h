#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include "base/process/log.h"
#include "server/http/http_message.h"
#include "server/queue/line_queue.h"
#include "server/records/metrics.h"

namespace nmt {

struct QueueOptions {
  /// Lines that may wait: a request that would make more is refused. One of more than a quarter of them counts as that.
  /// The last quarter is for short requests, so that a few long ones do not shut them out.
  int64_t max_waiting = 1024;
  int64_t max_batch = 64;               ///< lines that the translator may take at a time
  std::chrono::milliseconds window{0};  ///< how long an idle translator waits for more when a request comes in
  /// How long a pair of languages may have the translator while others wait.
  std::chrono::milliseconds turn{50};
  Clock clock = steady_seconds;
  void validate() const;  ///< throws Error
  int64_t most_of_request() const { return std::max<int64_t>(1, max_waiting / 4); }
  bool is_short(int64_t lines) const { return lines <= std::max<int64_t>(1, max_waiting / 64); }
};

/// Gives the lines of many clients to one translator, which a thread of the queue's own runs: line by line, as it has
/// space for them. The clients that wait take turns, and so do the requests of each, so that a short one is done before
/// a long one that came first. The pairs of languages take turns, too: next is that which has had the translator for
/// the shortest time so far.
class RequestQueue {
 public:
  /// The answers to a client's lines, in their order; or why there are none, and no answers: 500 where the translator
  /// failed at one of them, 400 where it refused one. A line at which it fails spoils no other request.
  using Done = std::function<void(std::vector<Translation> answers, const RequestError* error)>;
  /// The answer to one of the lines. It is to be quick: the queue waits for it.
  using OnLine = std::function<void(int64_t line, const Translation& answer)>;

  /// Borrows metrics and log: they must outlive the queue. Throws Error for options out of range.
  RequestQueue(LineTranslator translate, QueueOptions options, Metrics& metrics, Logger& log);
  /// Answers what is waiting, then ends. What nobody waits for any more is not answered.
  ~RequestQueue();

  /// Takes lines of `client`; done is called later, on a thread of the translator, or at once where there is no line.
  /// on_line, where given, is called before with each line, in their order, as soon as it and those before it are
  /// answered. held: what the client keeps in memory until then counts as so many lines at least. Throws RequestError
  /// 503 where too many are waiting already, and the client's would be more than its even share of these. Once
  /// cancelled stops, lines that were not begun are dropped, those that are being translated as soon as the translator
  /// asks, and neither is called.
  void submit(const std::string& client, std::vector<LineRequest> lines, std::stop_token cancelled, Done done,
              OnLine on_line = {}, int64_t held = 0);

  /// The translator is another from now on: it gets all lines that it has not taken by now. What the old one has taken
  /// it may end.
  void end_turns();

  const QueueOptions& options() const { return options_; }
  int64_t waiting() const;  ///< lines not yet handed to the translator, for which somebody waits; all of each request

 private:
  struct Submission;
  using Submissions = std::deque<std::shared_ptr<Submission>>;
  struct Client {
    int64_t waiting = 0;  ///< lines, as they count; one that has none is forgotten
    int64_t turn = 0;     ///< its last one; who comes later has a greater one
  };
  class Turn;
  /// A line that the translator has.
  struct Taken {
    std::shared_ptr<Submission> submission;
    int64_t line = 0;
    Request request = {};
  };
  using TakenLine = std::shared_ptr<const Taken>;

  void work();
  LanguagePair next_pair();
  void translate_pair(const LanguagePair& pair);
  void translate_alone(const LanguagePair& pair, const Taken& taken);
  std::vector<TakenLine> take(const LanguagePair& pair, int64_t most);
  Submissions::iterator next_submission(const LanguagePair& pair);
  void count(Submission& submission, int64_t weight);
  bool others_wait(const LanguagePair& pair) const;
  int64_t waiting_of(const LanguagePair& pair) const;
  void answer(const Taken& taken, Translation answer);
  void fail(const Taken& taken, std::optional<RequestError> why = {});
  void report(Submission& submission) const;
  void drop(const std::shared_ptr<Submission>& submission);
  void drop_cancelled();

  const LineTranslator translate_;
  const QueueOptions options_;
  Metrics& metrics_;
  Logger& log_;

  std::atomic<int64_t> generation_ = 0;  // counts end_turns()
  mutable std::mutex mutex_;             // of what follows, and of the submissions
  std::condition_variable changed_;
  Submissions submissions_;                // with lines not yet handed to the translator, as they came
  int64_t waiting_ = 0;                    // such lines, as they count
  std::map<std::string, Client> clients_;  // of these submissions
  int64_t turns_ = 0;
  std::map<std::string, double> used_;  // seconds that each pair has had the translator, see next_pair()
  double least_used_ = 0;
  bool stopping_ = false;
  std::thread worker_;
};

}  // namespace nmt
