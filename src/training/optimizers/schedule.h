#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "config/config.h"

namespace nmt {

/// Where schedule `plateau` stands. With every validation that is due: a new best score clears the count;
/// plateau_patience validations without one multiply the rate by plateau_factor.
struct Plateau {
  double factor = 1;        ///< of the learning rate
  int64_t validations = 0;  ///< without a new best, since the last change of the rate

  void add(bool new_best, const TrainingConfig& config);
};

/// Where a run stands when it makes an update.
struct ScheduleTime {
  int64_t update = 1;    ///< which one, from 1
  double epochs = 0;     ///< passes over the data that lie behind it: 2.5 in the middle of the third; `halving`
  Plateau plateau = {};  ///< `plateau`
};

/// The learning rate of an update.
using Schedule = std::function<double(const ScheduleTime& now)>;

/// training.schedule with its options, at update s; W = warmup_steps (0: none), D = decay_updates, E = final_lr:
///   inverse_sqrt  lr * min(s / W, sqrt(W / s)): the peak lr at s = W (Kyubyong's lr0 W^0.5 min(s W^-1.5, s^-0.5))
///   noam          lr * d_model^-0.5 * min(s^-0.5, s W^-1.5) (Vaswani et al. 2017, eq. 3, times lr)
/// and after a linear warm-up, lr s / W, with r = (s - W) / (D - W) at most 1 the share of the way down:
///   linear        lr + r (E - lr)
///   polynomial    E + (lr - E) (1 - r)^polynomial_power
///   cosine        E + (lr - E) (1 + cos(pi r)) / 2 (Loshchilov and Hutter 2017, without restarts)
///   plateau       lr times the plateau's factor, at least E
///   halving       lr, from epoch B = halving_start on lr 2^-(1 + floor((epochs - B) / halving_every)): halved after B
///                 epochs and again every halving_every epochs (Sutskever et al. 2014, sec. 3.4; Luong et al.
///                 2015, 4.1)
///   constant      lr
/// Throws Error for an unknown schedule.
Schedule make_schedule(const TrainingConfig& config, int64_t d_model);

/// What to say of a run whose learning rate hardly leaves its warm-up: where not even three times training.warmup_steps
/// updates are planned. nullopt: nothing; so, too, where planned is 0, not known.
std::optional<std::string> warmup_warning(const TrainingConfig& config, int64_t planned_updates);

/// Batches that update 1, 2, ... joins: from 1 in even steps to training.accumulate, which is reached after
/// accumulate_warmup updates.
int64_t batches_of_update(const TrainingConfig& config, int64_t update);

}  // namespace nmt
