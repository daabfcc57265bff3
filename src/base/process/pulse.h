#pragma once

#include <utility>

#include "base/process/log.h"

namespace nmt {

/// Tells when so many seconds have passed: what takes long says something at least so often.
class Pulse {
 public:
  explicit Pulse(Clock clock = steady_seconds, double seconds = 30)
      : clock_(std::move(clock)), seconds_(seconds), start_(clock_()), last_(start_) {}
  /// Whether they have passed since the last time, or since said(); then the next ones begin.
  bool is_due() {
    if (clock_() - last_ < seconds_) return false;
    said();
    return true;
  }
  void said() { last_ = clock_(); }
  double since_start() const { return clock_() - start_; }  ///< seconds

 private:
  Clock clock_;
  double seconds_, start_, last_;
};

}  // namespace nmt
