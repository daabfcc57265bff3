#include "serving/request_queue.h"

#include <fmt/format.h>

#include <algorithm>
#include <exception>
#include <optional>
#include <string>
#include <utility>

#include "base/error.h"
#include "serving/http/request_error.h"

namespace nmt {

/// The lines of one client, until all are answered or the client has been told why not.
struct RequestQueue::Request {
  Request(std::vector<Question> lines, std::stop_token token, Done callback)
      : questions(std::move(lines)),
        answers(questions.size()),
        given_up(std::move(token)),
        on_done(std::move(callback)) {}
  bool done() const { return failed || answered == std::ssize(questions); }
  int64_t left() const { return std::ssize(questions) - taken; }
  const LanguagePair& next_pair() const { return questions[taken].pair; }

  std::vector<Question> questions;
  std::vector<Answer> answers;
  int64_t taken = 0;     ///< handed to the translator
  int64_t answered = 0;  ///< come back from it
  bool failed = false;
  std::stop_token given_up;
  Done on_done;
};

/// What the translator works on: owns its questions, so that a client may give up meanwhile.
struct RequestQueue::Batch {
  struct Place {
    std::shared_ptr<Request> request;
    int64_t line = 0;
  };
  std::vector<Question> questions;
  std::vector<Place> places;  ///< whose they are
  std::vector<Answer> answers;
  std::vector<bool> failed;
  /// Asked by the translator, between its steps.
  bool given_up() const {
    return std::ranges::all_of(places, [](const Place& place) { return place.request->given_up.stop_requested(); });
  }
};

void QueueOptions::validate() const {
  if (max_waiting < 1) throw Error(fmt::format("queue of {} lines: use 1 or more", max_waiting));
  if (max_batch < 1) throw Error(fmt::format("batches of {} lines: use 1 or more", max_batch));
  if (window.count() < 0) throw Error(fmt::format("waiting window of {} ms: use 0 or more", window.count()));
}

RequestQueue::RequestQueue(TranslateFunction translate, QueueOptions options, Metrics& metrics, Logger& log)
    : translate_(std::move(translate)), options_(options), metrics_(metrics), log_(log) {
  options_.validate();
  worker_ = std::thread([this] { work(); });
}

RequestQueue::~RequestQueue() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  arrived_.notify_all();
  worker_.join();
}

void RequestQueue::submit(std::vector<Question> questions, std::stop_token given_up, Done done) {
  if (questions.empty()) return done({}, nullptr);
  const int64_t lines = std::ssize(questions);
  if (lines > options_.max_waiting)
    throw RequestError(413, fmt::format("{} lines: at most {} a request", lines, options_.max_waiting));
  auto request = std::make_shared<Request>(std::move(questions), std::move(given_up), std::move(done));

  const std::lock_guard lock(mutex_);
  if (waiting_ + lines > options_.max_waiting) drop_given_up();
  if (waiting_ + lines > options_.max_waiting)
    throw RequestError(503, fmt::format("busy: {} lines are waiting; try again later", waiting_), 1);
  requests_.push_back(std::move(request));
  waiting_ += lines;
  arrived_.notify_all();
}

std::vector<Answer> RequestQueue::answers_to(std::vector<Question> questions, std::stop_token given_up) {
  // An exception itself stays in its thread: its text is shared in ways that the thread sanitizer does not see.
  struct Failure {
    int status;
    std::string message;
    int64_t retry_after;
  };
  struct Result {
    std::mutex mutex;
    std::condition_variable_any come;
    bool done = false;
    std::vector<Answer> answers;
    std::optional<Failure> failure;
  };
  const auto result = std::make_shared<Result>();
  submit(std::move(questions), given_up, [result](std::vector<Answer> answers, const RequestError* error) {
    const std::lock_guard lock(result->mutex);
    result->answers = std::move(answers);
    if (error) result->failure = {error->status(), error->what(), error->retry_after()};
    result->done = true;
    result->come.notify_all();
  });
  std::unique_lock lock(result->mutex);
  if (!result->come.wait(lock, given_up, [&] { return result->done; })) throw GivenUp();
  if (const auto& failure = result->failure)
    throw RequestError(failure->status, failure->message, failure->retry_after);
  return std::move(result->answers);
}

int64_t RequestQueue::waiting() const {
  const std::lock_guard lock(mutex_);
  int64_t lines = 0;
  for (const auto& request : requests_) lines += request->given_up.stop_requested() ? 0 : request->left();
  return lines;
}

void RequestQueue::work() {
  std::unique_lock lock(mutex_);
  while (true) {
    if (waiting_ == 0) {
      arrived_.wait(lock, [this] { return stopping_ || waiting_ > 0; });
      // Those that come while a batch is translated have waited already; after idling it pays to wait for company.
      arrived_.wait_for(lock, options_.window, [this] { return stopping_ || waiting_ >= options_.max_batch; });
    }
    drop_given_up();
    if (waiting_ == 0) {
      if (stopping_) return;
      continue;
    }
    Batch batch = take_batch();
    lock.unlock();
    translate(batch);
    lock.lock();
    const auto done = deliver(batch);
    lock.unlock();
    for (const auto& request : done) report(*request);
    lock.lock();
  }
}

void RequestQueue::report(Request& request) const {
  try {
    if (request.given_up.stop_requested()) return;
    if (!request.failed) return request.on_done(std::move(request.answers), nullptr);
    const RequestError failure(500, "the translation failed; the server's log says why");
    request.on_done({}, &failure);
  } catch (const std::exception& error) {
    log_.error("an answer could not be given: {}", error.what());
  }
}

/// Lines of one pair of languages: that of the request which has waited longest for its turn.
RequestQueue::Batch RequestQueue::take_batch() {
  Batch batch;
  const LanguagePair pair = requests_.front()->next_pair();
  const auto fits = [&pair](const std::shared_ptr<Request>& request) { return request->next_pair() == pair; };
  const int64_t share = std::max<int64_t>(1, options_.max_batch / std::ranges::count_if(requests_, fits));
  for (auto at = requests_.begin(); at != requests_.end() && std::ssize(batch.questions) < options_.max_batch;
       at = std::ranges::find_if(requests_, fits)) {
    const auto request = std::move(*at);
    requests_.erase(at);
    for (int64_t count = std::min(share, options_.max_batch - std::ssize(batch.questions));
         count > 0 && request->left() > 0 && fits(request); --count) {
      batch.places.push_back({request, request->taken});
      batch.questions.push_back(std::move(request->questions[request->taken++]));
      --waiting_;
    }
    if (request->left() > 0) requests_.push_back(request);
  }
  return batch;
}

void RequestQueue::translate(Batch& batch) const {
  const auto start = Clock::now();
  batch.failed.assign(batch.questions.size(), false);
  const auto stopped = [&batch] { return batch.given_up(); };
  try {
    batch.answers = translate_(batch.questions, stopped);
    if (stopped()) batch.answers.resize(batch.questions.size());
    if (batch.answers.size() != batch.questions.size()) throw std::logic_error("not an answer for each line");
  } catch (const std::exception& error) {
    log_.error("a batch of {} lines failed: {}", batch.questions.size(), error.what());
    batch.answers.assign(batch.questions.size(), {});
    if (batch.questions.size() > 1)
      translate_alone(batch);
    else
      batch.failed[0] = true;
  }
  metrics_.add_batch(std::ssize(batch.questions), std::chrono::duration<double>(Clock::now() - start).count());
}

/// Finds the lines at which the translator fails: the others are answered.
void RequestQueue::translate_alone(Batch& batch) const {
  for (size_t i = 0; i < batch.questions.size(); ++i) {
    const auto stopped = [&] { return batch.places[i].request->given_up.stop_requested(); };
    try {
      batch.answers[i] = std::move(translate_(std::span(batch.questions).subspan(i, 1), stopped).at(0));
    } catch (const std::exception&) {
      batch.failed[i] = true;
    }
  }
}

/// The requests that are done by that.
std::vector<std::shared_ptr<RequestQueue::Request>> RequestQueue::deliver(Batch& batch) {
  std::vector<std::shared_ptr<Request>> done;
  for (size_t i = 0; i < batch.places.size(); ++i) {
    auto& [request, line] = batch.places[i];
    if (request->failed || request->given_up.stop_requested()) continue;
    if (batch.failed[i]) {
      request->failed = true;
      drop(request);
    } else {
      const Answer& answer = request->answers[line] = std::move(batch.answers[i]);
      ++request->answered;
      metrics_.add_translation(answer.source_tokens, answer.n_best.empty() ? 0 : answer.n_best.front().tokens);
    }
    if (request->done()) done.push_back(request);
  }
  return done;
}

void RequestQueue::drop(const std::shared_ptr<Request>& request) {
  if (std::erase(requests_, request) > 0) waiting_ -= request->left();
}

void RequestQueue::drop_given_up() {
  std::erase_if(requests_, [this](const std::shared_ptr<Request>& request) {
    if (!request->given_up.stop_requested()) return false;
    waiting_ -= request->left();
    return true;
  });
}

}  // namespace nmt
