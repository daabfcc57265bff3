#pragma once

#include <functional>
#include <mutex>
#include <string>
#include <utility>

namespace nmt {

/// A body that is sent while it is made: any thread adds to it, the connection takes from it.
class HttpStream {
 public:
  /// What is added behind the end is dropped.
  void add(std::string bytes) {
    if (!bytes.empty()) change([&] { pending_ += bytes; });
  }
  void end() {
    change([&] { ended_ = true; });
  }

  /// Of the connection: what was added since the last time, and whether that was all.
  std::pair<std::string, bool> take() {
    const std::lock_guard lock(mutex_);
    return {std::exchange(pending_, {}), ended_};
  }
  /// Of the connection: called, by any thread, whenever there is something to take; now, too, where there is.
  void on_change(std::function<void()> wake) {
    const std::lock_guard lock(mutex_);
    wake_ = std::move(wake);
    if (wake_ && (ended_ || !pending_.empty())) wake_();
  }

 private:
  template <typename Change>
  void change(const Change& change) {
    const std::lock_guard lock(mutex_);
    if (ended_) return;
    change();
    if (wake_) wake_();
  }

  std::mutex mutex_;
  std::string pending_;
  bool ended_ = false;
  std::function<void()> wake_;
};

}  // namespace nmt
