#include "training/schedule.h"

#include <algorithm>
#include <cmath>

#include "base/error.h"

namespace nmt {

double learning_rate(const TrainingConfig& config, int64_t d_model, int64_t update) {
  const double s = static_cast<double>(std::max<int64_t>(update, 1));
  const double w = static_cast<double>(config.warmup_steps);
  const double rise = w > 0 ? s / w : 1.0;
  if (config.schedule == "constant") return config.lr * std::min(rise, 1.0);
  if (config.schedule == "inverse_sqrt") return config.lr * std::min(rise, std::sqrt(std::max(w, 1.0) / s));
  if (config.schedule == "noam") {
    const double decay = 1.0 / std::sqrt(s);
    return config.lr / std::sqrt(static_cast<double>(d_model)) *
           (w > 0 ? std::min(decay, s * std::pow(w, -1.5)) : decay);
  }
  throw Error("training.schedule: '" + config.schedule + "' is none of inverse_sqrt, noam, constant");
}

}  // namespace nmt
