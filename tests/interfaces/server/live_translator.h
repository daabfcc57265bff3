#pragma once

#include <gtest/gtest.h>

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <stdexcept>
#include <string>
#include <vector>

#include "server/queue/request_queue.h"

namespace nmt::test {

/// Takes lines one by one as long as there are any, as a search does, and answers them when it is told to.
class LiveTranslator {
 public:
  LineTranslator function() {
    return [this](const LanguagePair&, TranslationQueue& lines) {
      {
        const std::lock_guard lock(mutex_);
        turns_.emplace_back();
      }
      do {
        for (auto taken = lines.take(1); !taken.empty(); taken = lines.take(1)) {
          std::unique_lock lock(mutex_);
          order_.push_back(taken.front().request().source);
          turns_.back().push_back(order_.back());
          changed_.notify_all();
          changed_.wait(lock, [this] { return allowed_ > 0; });
          --allowed_;
          lock.unlock();
          const auto& text = taken.front().request().source;
          if (text == "fail") throw std::runtime_error("this line fails");
          if (taken.front().cancelled()) continue;
          taken.front().finish({.text = {text.rbegin(), text.rend()}, .alternatives = {}});
        }
      } while (lines.wait());
    };
  }
  void allow(int lines) {
    const std::lock_guard lock(mutex_);
    allowed_ += lines;
    changed_.notify_all();
  }
  void wait_for(size_t lines) {
    std::unique_lock lock(mutex_);
    ASSERT_TRUE(changed_.wait_for(lock, std::chrono::seconds(20), [&] { return order_.size() >= lines; }));
  }
  std::vector<std::string> order() {
    const std::lock_guard lock(mutex_);
    return order_;
  }
  /// The lines of each call.
  std::vector<std::vector<std::string>> turns() {
    const std::lock_guard lock(mutex_);
    return turns_;
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  int allowed_ = 0;
  std::vector<std::string> order_;
  std::vector<std::vector<std::string>> turns_;
};

}  // namespace nmt::test
