#include "server/queue/wait_for_answers.h"

#include <condition_variable>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>

namespace nmt {

std::vector<Translation> wait_for_answers(RequestQueue& queue, const std::string& client,
                                          std::vector<LineRequest> lines, std::stop_token cancelled,
                                          RequestQueue::OnLine on_line) {
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
    std::vector<Translation> answers;
    std::optional<Failure> failure;
  };
  const auto result = std::make_shared<Result>();
  queue.submit(
      client, std::move(lines), cancelled,
      [result](std::vector<Translation> answers, const RequestError* error) {
        const std::lock_guard lock(result->mutex);
        result->answers = std::move(answers);
        if (error) result->failure = {error->status(), error->what(), error->retry_after()};
        result->done = true;
        result->come.notify_all();
      },
      std::move(on_line));
  std::unique_lock lock(result->mutex);
  if (!result->come.wait(lock, cancelled, [&] { return result->done; })) throw Cancelled();
  if (const auto& failure = result->failure)
    throw RequestError(failure->status, failure->message, failure->retry_after);
  return std::move(result->answers);
}

}  // namespace nmt
