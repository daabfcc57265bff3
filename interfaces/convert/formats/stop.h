#pragma once

#include "base/process/signals.h"

namespace nmt::convert {

/// Thrown between two tensors, so that nothing of a folder in the making stays.
struct Stopped {};

/// Throws Stopped where SIGINT or SIGTERM has come since catch_stop_signals().
inline void throw_if_stopped() {
  if (stop_signal() != 0) throw Stopped();
}

}  // namespace nmt::convert
