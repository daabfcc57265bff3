#include "training/optimizers/schedule.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <utility>

#include "base/process/log.h"

namespace nmt {
namespace {

double number_of(const ScheduleTime& now) { return static_cast<double>(std::max<int64_t>(now.update, 1)); }

double rise(double warmup, double s) { return warmup > 0 ? s / warmup : 1.0; }

Schedule inverse_sqrt(double lr, double warmup) {
  return [=](const ScheduleTime& now) {
    const double s = number_of(now);
    return lr * std::min(rise(warmup, s), std::sqrt(std::max(warmup, 1.0) / s));
  };
}

Schedule noam(double lr, double warmup, int64_t d_model) {
  return [=](const ScheduleTime& now) {
    const double s = number_of(now), decay = 1.0 / std::sqrt(s);
    return lr / std::sqrt(static_cast<double>(d_model)) *
           (warmup > 0 ? std::min(decay, s * std::pow(warmup, -1.5)) : decay);
  };
}

/// A linear warm-up to lr, then `after`.
Schedule warmed_up(const TrainingConfig& config, Schedule after) {
  return [lr = config.lr, warmup = static_cast<double>(config.warmup_steps),
          after = std::move(after)](const ScheduleTime& now) {
    const double risen = rise(warmup, number_of(now));
    return risen < 1 ? lr * risen : after(now);
  };
}

/// A warm-up, then the way down to final_lr. left: what is left of it where the share `way` lies behind, both in
/// [0, 1].
Schedule falling(const TrainingConfig& config, std::function<double(double way)> left) {
  const double begin = static_cast<double>(config.warmup_steps), end = static_cast<double>(config.decay_updates);
  return warmed_up(config, [=, lr = config.lr, final_lr = config.final_lr](const ScheduleTime& now) {
    const double way = std::clamp((number_of(now) - begin) / std::max(end - begin, 1.0), 0.0, 1.0);
    return final_lr + (lr - final_lr) * left(way);
  });
}

double halved(double lr, double start, double every, double epochs) {
  constexpr double kRounding = 1e-9;  // (8.7 - 8) / 0.1 is a little below 7
  return epochs < start ? lr : lr * std::exp2(-1 - std::floor((epochs - start) / every + kRounding));
}

}  // namespace

void Plateau::add(bool new_best, const TrainingConfig& config) {
  validations = new_best ? 0 : validations + 1;
  if (validations < config.plateau_patience) return;
  factor *= config.plateau_factor;
  validations = 0;
}

Schedule make_schedule(const TrainingConfig& config, int64_t d_model) {
  const double lr = config.lr, warmup = static_cast<double>(config.warmup_steps);
  switch (config.schedule) {
    case ScheduleKind::kInverseSqrt:
      return inverse_sqrt(lr, warmup);
    case ScheduleKind::kNoam:
      return noam(lr, warmup, d_model);
    case ScheduleKind::kLinear:
      return falling(config, [](double way) { return 1 - way; });
    case ScheduleKind::kPolynomial:
      return falling(config, [power = config.polynomial_power](double way) { return std::pow(1 - way, power); });
    case ScheduleKind::kCosine:
      return falling(config, [](double way) { return (1 + std::cos(std::numbers::pi * way)) / 2; });
    case ScheduleKind::kPlateau:
      return warmed_up(config, [lr, min = config.final_lr](const ScheduleTime& now) {
        return std::max(lr * now.plateau.factor, min);
      });
    case ScheduleKind::kHalving:
      return warmed_up(config, [lr, start = config.halving_start, every = config.halving_every](
                                   const ScheduleTime& now) { return halved(lr, start, every, now.epochs); });
    case ScheduleKind::kConstant:
      return warmed_up(config, [lr](const ScheduleTime&) { return lr; });
  }
  return nullptr;
}

std::optional<std::string> warmup_warning(const TrainingConfig& config, int64_t planned_updates) {
  constexpr int64_t kTimes = 3, kShare = 10;
  if (planned_updates <= 0 || planned_updates / kTimes >= config.warmup_steps) return std::nullopt;
  return fmt::format(
      "training.warmup_steps: {}, and about {} updates are planned: the learning rate hardly leaves its warm-up, so "
      "the model learns little; set training.warmup_steps: {}, or more updates by a smaller training.batch_size or "
      "more training.num_epochs",
      with_commas(config.warmup_steps), with_commas(planned_updates), std::max<int64_t>(1, planned_updates / kShare));
}

int64_t batches_of_update(const TrainingConfig& config, int64_t update) {
  const int64_t warmup = config.accumulate_warmup;
  if (update > warmup) return config.accumulate;
  return 1 + (config.accumulate - 1) * (update - 1) / warmup;
}

}  // namespace nmt
