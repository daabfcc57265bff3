#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <utility>

#include "nmt/export.h"

NMT_API_BEGIN

/// Asks work under way to end. Copies are one token: give one to the work, keep the other. Any thread may call it at
/// any time, and so may a signal handler. A token that was made asks for nothing; once it asks it does so for good.
class StopToken {
 public:
  /// A token of its own, which asks for nothing yet.
  StopToken() : StopToken(nullptr) {}
  /// One that asks by itself, too, once `asks` returns true: a time limit, a signal of another language. The work calls
  /// it often, in any of its threads; it must not throw.
  explicit StopToken(std::function<bool()> asks) : state_(std::make_shared<State>()) { state_->asks = std::move(asks); }
  /// The same token. What is moved from is copied: it stays a token.
  StopToken(const StopToken&) = default;
  StopToken& operator=(const StopToken&) = default;
  ~StopToken() = default;
  /// Asks for the end.
  void request_stop() const noexcept { state_->requested = true; }
  /// Whether it was asked for.
  bool stop_requested() const noexcept {
    if (!state_->requested && state_->asks && state_->asks()) state_->requested = true;
    return state_->requested;
  }

 private:
  struct State {
    std::atomic<bool> requested = false;
    std::function<bool()> asks;
  };
  std::shared_ptr<State> state_;
};

NMT_API_END
