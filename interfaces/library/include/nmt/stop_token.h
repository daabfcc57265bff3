#pragma once

#include <atomic>
#include <memory>

#include "nmt/export.h"

NMT_API_BEGIN

/// Asks work under way to end. Copies are one token: give one to the work, keep the other. Any thread may call it at
/// any time, and so may a signal handler. A token that was made asks for nothing; once it asks it does so for good.
class StopToken {
 public:
  /// A token of its own, which asks for nothing yet.
  StopToken() : requested_(std::make_shared<std::atomic<bool>>(false)) {}
  /// The same token. What is moved from is copied: it stays a token.
  StopToken(const StopToken&) = default;
  StopToken& operator=(const StopToken&) = default;
  ~StopToken() = default;
  /// Asks for the end.
  void request_stop() const noexcept { requested_->store(true); }
  /// Whether it was asked for.
  bool stop_requested() const noexcept { return requested_->load(); }

 private:
  std::shared_ptr<std::atomic<bool>> requested_;
};

NMT_API_END
