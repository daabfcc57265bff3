#pragma once

#include <spdlog/sinks/null_sink.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <span>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "base/process/log.h"
#include "server/queue/line_queue.h"

namespace nmt::test {

inline std::shared_ptr<Logger> silent_log() {
  return std::make_shared<Logger>("test", std::make_shared<spdlog::sinks::null_sink_mt>());
}

/// "abc" -> "cba", "cba (2)", ...; fails at a batch that holds "fail". It can be held, and remembers its batches.
class FakeTranslator {
 public:
  std::vector<Translation> translate(std::span<const Request> questions) {
    std::vector<Translation> answers;
    std::unique_lock lock(mutex_);
    batches_.emplace_back();
    for (const Request& question : questions) batches_.back().push_back(question.source);
    questions_.insert(questions_.end(), questions.begin(), questions.end());
    changed_.notify_all();
    changed_.wait(lock, [this] { return !held_; });
    for (const Request& question : questions) {
      if (question.source == "fail") throw std::runtime_error("this line fails");
      const std::string text(question.source.rbegin(), question.source.rend());
      Translation answer{.text = text, .source_tokens = 2, .target_tokens = 3};
      for (int64_t rank = 1; rank <= question.n_best; ++rank)
        answer.alternatives.push_back({.text = rank == 1 ? text : text + " (" + std::to_string(rank) + ")",
                                       .log_probability = -2.0 * rank,
                                       .score = -1.0 * rank,
                                       .tokens = 3});
      if (question.word_attention)
        answer.word_attention = {.name = "words", .heads = 1, .queries = {text}, .keys = {"k"}, .weights = {1}};
      if (question.alignment) answer.alternatives.front().aligned = {{0, text.size(), 0, text.size()}};
      answers.push_back(answer);
    }
    return answers;
  }
  LineTranslator function() {
    return in_batches([this](const LanguagePair&, std::span<const Request> questions, const std::function<bool()>&) {
      return translate(questions);
    });
  }

  /// From now on a batch stays in the translator until release().
  void hold() {
    const std::lock_guard lock(mutex_);
    held_ = true;
  }
  void release() {
    const std::lock_guard lock(mutex_);
    held_ = false;
    changed_.notify_all();
  }
  /// Waits until so many batches have come.
  void wait_for_batches(size_t count) {
    std::unique_lock lock(mutex_);
    if (!changed_.wait_for(lock, std::chrono::seconds(20), [&] { return batches_.size() >= count; }))
      throw std::runtime_error("the batch did not come");
  }
  std::vector<std::vector<std::string>> batches() {
    const std::lock_guard lock(mutex_);
    return batches_;
  }
  /// All that it was asked, in order.
  std::vector<Request> questions() {
    const std::lock_guard lock(mutex_);
    return questions_;
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  bool held_ = false;
  std::vector<Request> questions_;
  std::vector<std::vector<std::string>> batches_;
};

/// Asks until condition() holds; false after 20 seconds.
template <typename Condition>
bool eventually(Condition condition) {
  for (int i = 0; i < 20'000; ++i) {
    if (condition()) return true;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return false;
}

}  // namespace nmt::test
