#pragma once

#include <algorithm>

#include "training/optimizers/schedule.h"

namespace nmt {

/// A schedule: up to lr in a straight line until update `warm`, lr until update `stable`, down to 0 at update `end`
/// (Hu et al. 2024, "MiniCPM", sec. 4).
inline Schedule warmup_stable_decay(double lr, int64_t warm, int64_t stable, int64_t end) {
  return [=](const ScheduleTime& now) {
    const auto way = [&](int64_t from, int64_t to) {
      return std::clamp(static_cast<double>(now.update - from) / static_cast<double>(to - from), 0.0, 1.0);
    };
    return lr * std::min(way(0, warm), 1 - way(stable, end));
  };
}

}  // namespace nmt
