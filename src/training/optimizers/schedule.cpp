#include "training/optimizers/schedule.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "base/error.h"

namespace nmt {
namespace {

// Of the schedules that warm up in a straight line to lr.
double rate_after_warmup(const TrainingConfig& config, double update, const Plateau& plateau) {
  const auto& schedule = config.schedule;
  if (schedule == "constant") return config.lr;
  if (schedule == "plateau") return std::max(config.lr * plateau.factor, config.final_lr);
  const double begin = static_cast<double>(config.warmup_steps), end = static_cast<double>(config.decay_updates);
  const double way = std::clamp((update - begin) / std::max(end - begin, 1.0), 0.0, 1.0);
  const auto down = [&](double left) { return config.final_lr + (config.lr - config.final_lr) * left; };
  if (schedule == "linear") return down(1 - way);
  if (schedule == "polynomial") return down(std::pow(1 - way, config.polynomial_power));
  if (schedule == "cosine") return down((1 + std::cos(std::numbers::pi * way)) / 2);
  throw Error("training.schedule: '" + schedule +
              "' is none of inverse_sqrt, noam, linear, cosine, polynomial, plateau, constant");
}

}  // namespace

void Plateau::add(bool new_best, const TrainingConfig& config) {
  validations = new_best ? 0 : validations + 1;
  if (validations < config.plateau_patience) return;
  factor *= config.plateau_factor;
  validations = 0;
}

double learning_rate(const TrainingConfig& config, int64_t d_model, int64_t update, const Plateau& plateau) {
  const double s = static_cast<double>(std::max<int64_t>(update, 1));
  const double w = static_cast<double>(config.warmup_steps);
  const double rise = w > 0 ? s / w : 1.0;
  if (config.schedule == "inverse_sqrt") return config.lr * std::min(rise, std::sqrt(std::max(w, 1.0) / s));
  if (config.schedule == "noam") {
    const double decay = 1.0 / std::sqrt(s);
    return config.lr / std::sqrt(static_cast<double>(d_model)) *
           (w > 0 ? std::min(decay, s * std::pow(w, -1.5)) : decay);
  }
  const double rate = rate_after_warmup(config, s, plateau);
  return rise < 1 ? config.lr * rise : rate;
}

int64_t batches_of_update(const TrainingConfig& config, int64_t update) {
  const int64_t warmup = config.accumulate_warmup;
  if (update > warmup) return config.accumulate;
  return 1 + (config.accumulate - 1) * (update - 1) / warmup;
}

}  // namespace nmt
