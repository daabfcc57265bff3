#include "training/optimizers/make_optimizer.h"

#include "training/optimizers/adafactor.h"
#include "training/optimizers/adam.h"
#include "training/optimizers/optimizer.h"

namespace nmt {

std::unique_ptr<Optimizer> make_optimizer(const TrainingConfig& config, NamedTensors parameters) {
  const WeightDecay decay(config.weight_decay, config.weight_decay_form == WeightDecayForm::kDecoupled);
  switch (config.optimizer) {
    case OptimizerKind::kAdam:
    case OptimizerKind::kAdamW:
      return std::make_unique<Adam>(std::move(parameters), Adam::Options{.beta1 = config.adam_beta1,
                                                                         .beta2 = config.adam_beta2,
                                                                         .epsilon = config.adam_epsilon,
                                                                         .weight_decay = decay});
    case OptimizerKind::kRadam:
      return std::make_unique<RAdam>(std::move(parameters), RAdam::Options{.beta1 = config.adam_beta1,
                                                                           .beta2 = config.adam_beta2,
                                                                           .epsilon = config.adam_epsilon,
                                                                           .weight_decay = decay});
    case OptimizerKind::kAdafactor:
      return std::make_unique<Adafactor>(std::move(parameters),
                                         Adafactor::Options{.decay = config.adafactor_decay,
                                                            .clip = config.adafactor_clip,
                                                            .scale_by_weights = config.adafactor_scale,
                                                            .weight_decay = decay});
    case OptimizerKind::kSgd:
      return std::make_unique<Sgd>(std::move(parameters),
                                   Sgd::Options{.momentum = config.sgd_momentum, .weight_decay = decay});
    case OptimizerKind::kAdadelta:
      return std::make_unique<Adadelta>(
          std::move(parameters),
          Adadelta::Options{.rho = config.adadelta_rho, .epsilon = config.adadelta_epsilon, .weight_decay = decay});
  }
  return nullptr;
}

}  // namespace nmt
