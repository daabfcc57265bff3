#include "server/queue/request_queue.h"

#include <fmt/format.h>

#include <algorithm>
#include <exception>
#include <string>
#include <utility>

#include "base/error.h"
#include "base/threads.h"
#include "server/http/http_message.h"

namespace nmt {

/// The lines of one client, until all are answered or the client has been told why not.
struct RequestQueue::Submission {
  Submission(std::vector<LineRequest> requests, std::stop_token token, Done callback, OnLine on_each)
      : lines(std::move(requests)),
        answers(lines.size()),
        is_answered(lines.size()),
        cancelled(std::move(token)),
        on_done(std::move(callback)),
        on_line(std::move(on_each)) {}
  bool done() const { return failed || answered == std::ssize(lines); }
  int64_t left() const { return std::ssize(lines) - taken; }
  int64_t weight(int64_t most) const { return left() == 0 ? 0 : std::min(std::max(left(), held), most); }
  const LanguagePair& next_pair() const { return lines[taken].pair; }
  /// The last ones of its client and of itself: of those that wait the least comes next.
  std::pair<int64_t, int64_t> turns() const { return {client->second.turn, turn}; }

  std::vector<LineRequest> lines;
  std::vector<Translation> answers;
  std::vector<bool> is_answered;
  int64_t taken = 0;     ///< handed to the translator
  int64_t answered = 0;  ///< come back from it
  int64_t told = 0;      ///< handed to on_line
  int64_t held = 0;      ///< counts as so many lines while there are any
  int64_t counted = 0;   ///< in waiting_
  bool failed = false;
  std::optional<RequestError> refused;             ///< why it failed, where that is the client's to know
  std::map<std::string, Client>::iterator client;  ///< as long as lines are left
  int64_t turn = 0;                                ///< its last one
  std::stop_token cancelled;
  Done on_done;
  OnLine on_line;
};

/// The lines of one pair, as long as it is its turn.
class RequestQueue::Turn final : public TranslationQueue {
 public:
  Turn(RequestQueue& queue, const LanguagePair& pair) : queue_(queue), pair_(pair) {}

  int64_t waiting() const override {
    const std::lock_guard lock(queue_.mutex_);
    return is_over() ? 0 : queue_.waiting_of(pair_);
  }

  std::vector<Handle> take(int64_t count) override {
    std::vector<Handle> lines;  // behind the lock where it fails
    const std::lock_guard lock(queue_.mutex_);
    if (is_over()) return lines;
    const auto all = queue_.take(pair_, std::min(count, queue_.options_.max_batch));
    if (lines_ > 0 && !all.empty() && queue_.options_.clock() >= counted_to_ + length_) tell_metrics();
    for (const auto& taken : all)
      lines.emplace_back(taken->request, taken->submission->cancelled,
                         [this, taken](std::optional<Translation> result) { end(taken, std::move(result)); });
    lines_ += std::ssize(lines);
    under_way_ += std::ssize(lines);
    return lines;
  }

  bool wait() override {
    std::unique_lock lock(queue_.mutex_);
    const auto has_lines = [this] { return !is_over() && queue_.waiting_of(pair_) > 0; };
    queue_.changed_.wait(lock, [&] { return !failed_.empty() || under_way_ == 0 || has_lines(); });
    return has_lines();
  }

  double start() const { return start_; }
  int64_t lines() const { return lines_; }
  /// Whether end_turns() has ended the turn.
  bool is_ended() const { return generation_ != queue_.generation_; }
  /// What was taken since the last time, and the time. A long turn does so now and then.
  void tell_metrics() {
    const double now = queue_.options_.clock();
    queue_.metrics_.add_batch(lines_ - counted_, now - counted_to_);
    counted_ = lines_;
    counted_to_ = now;
  }
  /// What was dropped although it is not cancelled.
  std::vector<TakenLine> failed() { return std::move(failed_); }

 private:
  /// It was ended; or others wait, it has had its time, and at least one line is taken. What it has, it may end.
  bool is_over() const {
    if (!failed_.empty() || is_ended()) return true;
    return lines_ > 0 && queue_.options_.clock() >= start_ + length_ && queue_.others_wait(pair_);
  }

  void end(const TakenLine& taken, std::optional<Translation> result) {
    if (result) queue_.answer(*taken, std::move(*result));
    const std::lock_guard lock(queue_.mutex_);
    if (!result && !taken->submission->cancelled.stop_requested()) failed_.push_back(taken);
    if (--under_way_ == 0 || !failed_.empty()) queue_.changed_.notify_all();
  }

  RequestQueue& queue_;
  const LanguagePair pair_;
  const int64_t generation_ = queue_.generation_;
  const double start_ = queue_.options_.clock();
  const double length_ = std::chrono::duration<double>(queue_.options_.turn).count();
  // With queue_.mutex_:
  std::vector<TakenLine> failed_;
  int64_t under_way_ = 0, lines_ = 0, counted_ = 0;
  double counted_to_ = start_;
};

void QueueOptions::validate() const {
  if (max_waiting < 1) throw Error(fmt::format("--queue {}: use 1 or more lines", max_waiting));
  if (max_batch < 1) throw Error(fmt::format("batches of {} lines: use 1 or more", max_batch));
  if (turn.count() < 1) throw Error(fmt::format("turns of {} ms: use 1 or more", turn.count()));
  if (window.count() < 0) throw Error(fmt::format("waiting window of {} ms: use 0 or more", window.count()));
}

RequestQueue::RequestQueue(LineTranslator translate, QueueOptions options, Metrics& metrics, Logger& log)
    : translate_(std::move(translate)), options_(options), metrics_(metrics), log_(log) {
  options_.validate();
  worker_ = start_thread([this] { work(); });
}

RequestQueue::~RequestQueue() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  changed_.notify_all();
  worker_.join();
}

void RequestQueue::submit(const std::string& client, std::vector<LineRequest> lines, std::stop_token cancelled,
                          Done done, OnLine on_line, int64_t held) {
  if (lines.empty()) return done({}, nullptr);
  auto submission =
      std::make_shared<Submission>(std::move(lines), std::move(cancelled), std::move(done), std::move(on_line));
  submission->held = held;
  const int64_t weight = submission->weight(options_.most_of_request());

  const int64_t most = options_.max_waiting - (options_.is_short(weight) ? 0 : options_.most_of_request());

  const std::lock_guard lock(mutex_);
  if (waiting_ + weight > most) drop_cancelled();
  const auto known = clients_.find(client);
  const int64_t clients = std::ssize(clients_) + (known == clients_.end() ? 1 : 0);
  const int64_t own = weight + (known == clients_.end() ? 0 : known->second.waiting);
  if (waiting_ + weight > most && own > most / clients)
    throw RequestError(503, fmt::format("busy: {} lines are waiting; try again later", waiting_), 1);
  if (known == clients_.end()) clients_[client].turn = ++turns_;  // behind the others
  submission->client = clients_.find(client);
  submission->turn = ++turns_;
  submissions_.push_back(submission);
  count(*submission, weight);
  changed_.notify_all();
}

void RequestQueue::end_turns() {
  const std::lock_guard lock(mutex_);
  ++generation_;
  changed_.notify_all();
}

int64_t RequestQueue::waiting() const {
  const std::lock_guard lock(mutex_);
  int64_t lines = 0;
  for (const auto& submission : submissions_) lines += submission->cancelled.stop_requested() ? 0 : submission->left();
  return lines;
}

void RequestQueue::work() {
  std::unique_lock lock(mutex_);
  while (true) {
    if (waiting_ == 0) {
      changed_.wait(lock, [this] { return stopping_ || waiting_ > 0; });
      if (options_.window.count() > 0)
        changed_.wait_for(lock, options_.window, [this] { return stopping_ || waiting_ >= options_.max_batch; });
    }
    drop_cancelled();
    if (waiting_ == 0) {
      if (stopping_) return;
      continue;
    }
    const auto pair = next_pair();
    lock.unlock();
    translate_pair(pair);
    lock.lock();
  }
}

/// The waiting pair that has had the translator for the shortest time. A pair that had nothing to do
/// meanwhile does not make up for it: it begins with the time of the one that was chosen last.
LanguagePair RequestQueue::next_pair() {
  const Submission* best = nullptr;
  double least = 0;
  for (const auto& submission : submissions_) {
    double& used = used_[submission->next_pair().name()];
    used = std::max(used, least_used_);
    if (best && std::pair(used, submission->turns()) >= std::pair(least, best->turns())) continue;
    best = submission.get();
    least = used;
  }
  least_used_ = least;
  return best->next_pair();
}

void RequestQueue::translate_pair(const LanguagePair& pair) {
  Turn turn(*this, pair);
  std::string failure;
  try {
    translate_(pair, turn);
  } catch (const std::exception& error) {
    failure = error.what();
  }
  auto failed = turn.failed();
  if (turn.lines() == 0) {
    if (turn.is_ended()) return;  // before it took any: the next one does
    // It failed before it took any; they may not wait for ever.
    const std::lock_guard lock(mutex_);
    failed = take(pair, options_.max_batch);
  }
  std::erase_if(failed, [](const TakenLine& taken) { return taken->submission->cancelled.stop_requested(); });
  if (!failed.empty()) {
    log_.error("{} lines failed: {}", failed.size(), failure.empty() ? "they were not answered" : failure);
    if (failed.size() == 1 && turn.lines() == 1)
      fail(*failed.front());
    else
      for (const auto& taken : failed) translate_alone(pair, *taken);
  }
  if (turn.lines() > 0) turn.tell_metrics();
  const std::lock_guard lock(mutex_);
  used_[pair.name()] += options_.clock() - turn.start();
}

/// Finds the lines at which the translator fails: the others are answered.
void RequestQueue::translate_alone(const LanguagePair& pair, const Taken& taken) {
  if (taken.submission->cancelled.stop_requested()) return;
  ListQueue<Request, Translation> line({&taken.request, 1}, taken.submission->cancelled);
  try {
    translate_(pair, line);
  } catch (const std::exception&) {
  }
  if (auto& result = line.results().front())
    answer(taken, std::move(*result));
  else
    fail(taken);
}

void RequestQueue::report(Submission& submission) const {
  try {
    if (submission.cancelled.stop_requested()) return;
    if (!submission.failed) return submission.on_done(std::move(submission.answers), nullptr);
    const RequestError failure(500, "the translation failed; the server's log says why");
    submission.on_done({}, submission.refused ? &*submission.refused : &failure);
  } catch (const std::exception& error) {
    log_.error("an answer could not be given: {}", error.what());
  }
}

int64_t RequestQueue::waiting_of(const LanguagePair& pair) const {
  int64_t lines = 0;
  for (const auto& submission : submissions_)
    if (submission->next_pair() == pair) lines += submission->left();  // those of other pairs behind them, too
  return lines;
}

bool RequestQueue::others_wait(const LanguagePair& pair) const {
  return std::ranges::any_of(submissions_, [&](const auto& one) { return one->next_pair() != pair; });
}

/// The one that is to give the next line; the end where no request waits for this pair.
RequestQueue::Submissions::iterator RequestQueue::next_submission(const LanguagePair& pair) {
  auto next = submissions_.end();
  for (auto one = submissions_.begin(); one != submissions_.end(); ++one) {
    if ((*one)->next_pair() == pair && (next == submissions_.end() || (*one)->turns() < (*next)->turns())) next = one;
  }
  return next;
}

std::vector<RequestQueue::TakenLine> RequestQueue::take(const LanguagePair& pair, int64_t most) {
  drop_cancelled();
  std::vector<TakenLine> lines;
  for (auto next = next_submission(pair); next != submissions_.end() && std::ssize(lines) < most;
       next = next_submission(pair)) {
    const auto submission = *next;
    lines.push_back(std::make_shared<const Taken>(
        Taken{submission, submission->taken, std::move(submission->lines[submission->taken].request)}));
    submission->turn = submission->client->second.turn = ++turns_;
    ++submission->taken;
    if (submission->left() == 0) submissions_.erase(next);
    count(*submission, submission->weight(options_.most_of_request()));
  }
  return lines;
}

/// From now on the request counts as so many waiting lines.
void RequestQueue::count(Submission& submission, int64_t weight) {
  const int64_t more = weight - std::exchange(submission.counted, weight);
  waiting_ += more;
  if ((submission.client->second.waiting += more) == 0) clients_.erase(submission.client);
}

void RequestQueue::answer(const Taken& taken, Translation answer) {
  if (answer.prefix_is_cut)
    return fail(taken, RequestError(400, "prefix: is longer than any translation of the model"));
  const auto& submission = taken.submission;
  {
    const std::lock_guard lock(mutex_);
    if (submission->failed || submission->cancelled.stop_requested()) return;
    metrics_.add_translation(answer.source_tokens, answer.target_tokens, answer.loop);
    submission->answers[taken.line] = std::move(answer);
    submission->is_answered[taken.line] = true;
    ++submission->answered;
    if (submission->on_line) {
      for (; submission->told < std::ssize(submission->answers) && submission->is_answered[submission->told];
           ++submission->told)
        submission->on_line(submission->told, submission->answers[submission->told]);
    }
    if (!submission->done()) return;
  }
  report(*submission);
}

void RequestQueue::fail(const Taken& taken, std::optional<RequestError> why) {
  {
    const std::lock_guard lock(mutex_);
    if (taken.submission->failed || taken.submission->cancelled.stop_requested()) return;
    taken.submission->failed = true;
    taken.submission->refused = std::move(why);
    drop(taken.submission);
  }
  report(*taken.submission);
}

void RequestQueue::drop(const std::shared_ptr<Submission>& submission) {
  if (std::erase(submissions_, submission) > 0) count(*submission, 0);
}

void RequestQueue::drop_cancelled() {
  std::erase_if(submissions_, [this](const std::shared_ptr<Submission>& submission) {
    if (!submission->cancelled.stop_requested()) return false;
    count(*submission, 0);
    return true;
  });
}

}  // namespace nmt
