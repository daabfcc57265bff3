#pragma once

#include <atomic>
#include <memory>

#include "nmt/export.h"

NMT_API_BEGIN

/// Asks work under way to end. Copies are one token: give one to the work, keep the other. Any thread may call it at
/// any time, and so may a signal handler. A token that was made asks for nothing; once it asks it does so for good.
class StopToken {
 public:
  StopToken() : requested_(std::make_shared<std::atomic<bool>>(false)) {}
  void request_stop() const noexcept { requested_->store(true); }
  bool stop_requested() const noexcept { return requested_->load(); }

 private:
  std::shared_ptr<std::atomic<bool>> requested_;
};

NMT_API_END
