#include "training/loop/loss_scale.h"

#include <ATen/ops/_amp_update_scale.h>
#include <ATen/ops/_foreach_mul.h>
#include <ATen/ops/full.h>
#include <ATen/ops/zeros.h>

namespace nmt {

LossScale::LossScale(torch::Device device, Options options)
    : scale_(at::full({}, options.initial, torch::TensorOptions(torch::kFloat32).device(device))),
      good_updates_(at::zeros({}, torch::TensorOptions(torch::kInt32).device(device))),
      growth_(options.growth) {}

void LossScale::unscale(const std::vector<torch::Tensor>& gradients) const {
  const torch::NoGradGuard no_grad;
  if (!gradients.empty()) at::_foreach_mul_(gradients, scale_.reciprocal());
}

void LossScale::follow(const torch::Tensor& skipped) {
  const torch::NoGradGuard no_grad;
  constexpr double kUp = 2, kDown = 0.5;
  at::_amp_update_scale_(scale_, good_updates_, skipped, kUp, kDown, growth_);
}

}  // namespace nmt
