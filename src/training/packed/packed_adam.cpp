#include "training/packed/packed_adam.h"

#include <ATen/Functions.h>
#include <torch/csrc/autograd/variable.h>

#include <limits>
#include <utility>

namespace nmt {
namespace {

constexpr int64_t kSquareSums = 528;  // part of the bits of a norm

}  // namespace

PackedAdam::PackedAdam(NamedTensors parameters, const FlatWeights& weights, PackedOperations& operations,
                       Adam::Options options)
    : Optimizer(std::move(parameters)),
      weights_(weights),
      operations_(operations),
      first_(weights.zeros()),
      second_(weights.zeros()) {
  const auto exact = weights.weights().options(), ints = exact.dtype(torch::kInt64);
  steps_ = at::zeros({1}, ints);
  steps_of_each_ = at::zeros({std::ssize(this->parameters())}, exact.dtype(torch::kFloat32));
  betas_ = torch::tensor({options.beta1, options.beta2, 0.0}, torch::kFloat64).to(exact.device());
  options_ = torch::tensor({options.beta1, options.beta2, options.epsilon, options.weight_decay.rate}, torch::kFloat64)
                 .to(exact);
  control_ = at::zeros({5}, exact);
  parts_ = at::zeros({kSquareSums}, exact);
}

void PackedAdam::measure_gradients() {
  if (!std::exchange(is_measured_, true)) operations_.squared_norm(weights_.gradients(), parts_);
}

torch::Tensor PackedAdam::clip_gradients(double max_norm) {
  const torch::NoGradGuard no_grad;
  betas_[2].fill_(max_norm);
  measure_gradients();
  return parts_.sum().sqrt();
}

void PackedAdam::clear_gradients() {
  weights_.gradients().zero_();
  is_measured_ = false;
}

void PackedAdam::step(double learning_rate) { step_unless(at::zeros({}, parts_.options()), learning_rate); }

void PackedAdam::step_unless(const torch::Tensor& skip, double learning_rate) {
  const torch::NoGradGuard no_grad;
  measure_gradients();
  // A norm that is not finite leaves the update out.
  parts_[0].copy_(at::where(skip > 0, std::numeric_limits<double>::infinity(), parts_[0]));
  steps_.copy_(steps_of_each_.narrow(0, 0, 1));
  operations_.adam_control(parts_, betas_, steps_, control_);
  steps_of_each_.copy_(steps_.expand_as(steps_of_each_));
  const auto rate = at::full({1}, learning_rate, options_.options());
  operations_.adam(weights_.weights(), first_, second_, weights_.gradients(), weights_.copies(), control_, options_,
                   rate);
  is_measured_ = false;
  betas_[2].fill_(0);
  // The kernel does not count as a change by itself, and what is made of weights (PackedMatrix) would go stale.
  for (const auto& item : parameters()) torch::autograd::impl::bump_version(item.second);
}

NamedTensors PackedAdam::state() const {
  NamedTensors state;
  for (size_t i = 0; i < parameters().size(); ++i) {
    const auto& [name, parameter] = parameters()[i];
    state.emplace_back("first_moment." + name, weights_.part_of(first_, name, parameter.sizes()));
    state.emplace_back("second_moment." + name, weights_.part_of(second_, name, parameter.sizes()));
    state.emplace_back("steps." + name, steps_of_each_[static_cast<int64_t>(i)]);
  }
  return state;
}

}  // namespace nmt
