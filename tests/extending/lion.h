#pragma once

#include "training/optimizers/optimizer.h"

namespace nmt {

/// An optimizer: Lion (Chen et al. 2023, "Symbolic Discovery of Optimization Algorithms", algorithm 2):
///   x -= learning_rate sign(beta1 m + (1 - beta1) g),   then m = beta2 m + (1 - beta2) g
class Lion final : public Optimizer {
 public:
  struct Options {
    double beta1 = 0.9, beta2 = 0.99;
    WeightDecay weight_decay = {};
  };
  Lion(NamedTensors parameters, Options options) : Optimizer(std::move(parameters)), options_(options) {
    for (const auto& [name, parameter] : this->parameters()) momenta_.push_back(torch::zeros_like(parameter).detach());
  }

  void step(double learning_rate) override {
    const torch::NoGradGuard no_grad;
    decay_weights(options_.weight_decay, learning_rate);
    for (size_t i = 0; i < parameters().size(); ++i) {
      auto parameter = parameters()[i].second;
      const auto gradient = parameter.grad();
      if (!gradient.defined()) continue;
      parameter.sub_(torch::lerp(gradient, momenta_[i], options_.beta1).sign_(), learning_rate);
      momenta_[i].lerp_(gradient, 1 - options_.beta2);
    }
  }

  /// "momentum.NAME".
  NamedTensors state() const override {
    NamedTensors state;
    for (size_t i = 0; i < parameters().size(); ++i)
      state.emplace_back("momentum." + parameters()[i].first, momenta_[i]);
    return state;
  }

 private:
  Options options_;
  std::vector<torch::Tensor> momenta_;
};

}  // namespace nmt
