#include "training/optimizers/optimizer.h"

#include <ATen/ops/_foreach_norm.h>
#include <ATen/ops/linalg_vector_norm.h>
#include <ATen/ops/stack.h>

#include "base/error.h"
#include "training/optimizers/adadelta.h"
#include "training/optimizers/adafactor.h"
#include "training/optimizers/adam.h"
#include "training/optimizers/radam.h"
#include "training/optimizers/sgd.h"

namespace nmt {

void Optimizer::step_unless(const torch::Tensor& skip, double learning_rate) {
  if (skip.item<float>() == 0) step(learning_rate);
}

torch::Tensor Optimizer::clip_gradients(double max_norm) {
  const torch::NoGradGuard no_grad;
  std::vector<torch::Tensor> gradients;
  for (const auto& [name, parameter] : parameters_)
    if (parameter.grad().defined()) gradients.push_back(parameter.grad());
  if (gradients.empty())
    return torch::zeros({}, parameters_.empty() ? torch::TensorOptions() : parameters_.front().second.options());
  const auto norm = at::linalg_vector_norm(at::stack(at::_foreach_norm(gradients)));
  if (max_norm > 0) {
    const auto factor = (max_norm / norm.to(torch::kFloat64)).clamp_max(1).to(norm.scalar_type());
    for (auto& gradient : gradients) gradient.mul_(factor);
  }
  return norm;
}

void Optimizer::clear_gradients() {
  for (auto& [name, parameter] : parameters_) parameter.mutable_grad().reset();
}

void Optimizer::decay_weights(const WeightDecay& decay, double learning_rate) {
  if (decay.rate == 0) return;
  for (auto& [name, parameter] : parameters_) {
    if (!parameter.grad().defined()) continue;
    if (decay.decoupled)
      parameter.mul_(1 - learning_rate * decay.rate);
    else
      parameter.mutable_grad().add_(parameter, decay.rate);
  }
}

std::unique_ptr<Optimizer> make_optimizer(const TrainingConfig& config, NamedTensors parameters) {
  const WeightDecay decay(config.weight_decay, config.weight_decay_form == "decoupled");
  const auto& name = config.optimizer;
  if (name == "adam" || name == "adamw")
    return std::make_unique<Adam>(std::move(parameters), Adam::Options{.beta1 = config.adam_beta1,
                                                                       .beta2 = config.adam_beta2,
                                                                       .epsilon = config.adam_epsilon,
                                                                       .weight_decay = decay});
  if (name == "radam")
    return std::make_unique<RAdam>(std::move(parameters), RAdam::Options{.beta1 = config.adam_beta1,
                                                                         .beta2 = config.adam_beta2,
                                                                         .epsilon = config.adam_epsilon,
                                                                         .weight_decay = decay});
  if (name == "adafactor")
    return std::make_unique<Adafactor>(std::move(parameters),
                                       Adafactor::Options{.decay = config.adafactor_decay,
                                                          .clip = config.adafactor_clip,
                                                          .scale_by_weights = config.adafactor_scale,
                                                          .weight_decay = decay});
  if (name == "sgd")
    return std::make_unique<Sgd>(std::move(parameters),
                                 Sgd::Options{.momentum = config.sgd_momentum, .weight_decay = decay});
  if (name == "adadelta")
    return std::make_unique<Adadelta>(
        std::move(parameters),
        Adadelta::Options{.rho = config.adadelta_rho, .epsilon = config.adadelta_epsilon, .weight_decay = decay});
  throw Error("training.optimizer: '" + name + "' is none of adam, adamw, radam, adafactor, sgd, adadelta");
}

}  // namespace nmt
