#pragma once

#include <cstdint>

#include "config/config.h"

namespace nmt {

/// The learning rate of update 1, 2, ...:
///   inverse_sqrt  lr * min(s / W, sqrt(W / s)): the peak lr at s = W (Kyubyong's lr0 W^0.5 min(s W^-1.5, s^-0.5))
///   noam          lr * d_model^-0.5 * min(s^-0.5, s W^-1.5) (Vaswani et al. 2017, eq. 3, times lr)
///   constant      lr, after a linear warm-up where W > 0
/// with W = warmup_steps; W = 0 means no warm-up. Throws Error for an unknown schedule.
double learning_rate(const TrainingConfig& config, int64_t d_model, int64_t update);

}  // namespace nmt
