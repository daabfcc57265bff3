#include "training/optimizer.h"

#include <ATen/ops/_foreach_norm.h>
#include <ATen/ops/linalg_vector_norm.h>
#include <ATen/ops/stack.h>

#include "base/error.h"
#include "training/adadelta.h"
#include "training/adam.h"

namespace nmt {

double Optimizer::clip_gradients(double max_norm) {
  const torch::NoGradGuard no_grad;
  std::vector<torch::Tensor> gradients;
  for (const auto& [name, parameter] : parameters_)
    if (parameter.grad().defined()) gradients.push_back(parameter.grad());
  if (gradients.empty()) return 0;
  const double norm = at::linalg_vector_norm(at::stack(at::_foreach_norm(gradients))).item<double>();
  if (max_norm > 0 && norm > max_norm) scale_gradients(max_norm / norm);
  return norm;
}

void Optimizer::scale_gradients(double factor) {
  const torch::NoGradGuard no_grad;
  for (const auto& [name, parameter] : parameters_)
    if (parameter.grad().defined()) parameter.grad().mul_(factor);
}

void Optimizer::clear_gradients() {
  for (auto& [name, parameter] : parameters_) parameter.mutable_grad().reset();
}

std::unique_ptr<Optimizer> make_optimizer(const TrainingConfig& config, NamedTensors parameters) {
  if (config.optimizer == "adam")
    return std::make_unique<Adam>(std::move(parameters), Adam::Options{.beta1 = config.adam_beta1,
                                                                       .beta2 = config.adam_beta2,
                                                                       .epsilon = config.adam_epsilon,
                                                                       .weight_decay = config.weight_decay});
  if (config.optimizer == "adadelta")
    return std::make_unique<Adadelta>(std::move(parameters), Adadelta::Options{.rho = config.adadelta_rho,
                                                                               .epsilon = config.adadelta_epsilon,
                                                                               .weight_decay = config.weight_decay});
  throw Error("training.optimizer: '" + config.optimizer + "' is none of adam, adadelta");
}

}  // namespace nmt
