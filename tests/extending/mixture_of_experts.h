#pragma once

#include <fmt/format.h>

#include <memory>
#include <vector>

#include "nn/layers/feed_forward.h"

namespace nmt {

/// A feed-forward layer: a router gives each position to one of N dense layers (Fedus et al. 2022, "Switch
/// Transformers", sec. 2.1). With p = softmax(W x), i = argmax p:
///   y = p_i expert_i(x),   auxiliary loss = balance N sum_i f_i P_i
/// where f_i is the share of positions that expert i gets, and P_i the mean of p_i. No position is turned away, so
/// a result does not depend on the other positions.
class MixtureOfExperts final : public FeedForward, public AuxiliaryLoss {
 public:
  MixtureOfExperts(const FeedForwardOptions& options, int64_t experts, double balance = 0.01) : balance_(balance) {
    router_ = register_module("router", Linear(options.model, experts, LinearImpl::Bias::kNo));
    for (int64_t i = 0; i < experts; ++i)
      experts_.push_back(register_module(fmt::format("expert_{}", i), std::make_shared<DenseFeedForward>(options)));
  }

  torch::Tensor forward(const torch::Tensor& x, ForwardContext& pass, const torch::Tensor& residual) override {
    const auto rows = x.reshape({-1, x.size(-1)});                              // [positions, model]
    const auto shares = torch::softmax(router_(rows).to(torch::kFloat32), -1);  // [positions, experts]
    const auto [share, chosen] = shares.max(-1);                                // [positions]
    auto y = torch::zeros_like(rows);
    for (int64_t i = 0; i < std::ssize(experts_); ++i) {
      const auto own = (chosen == i).nonzero().squeeze(-1);
      if (own.numel() == 0) continue;
      const auto weight = share.index_select(0, own).unsqueeze(-1).to(x.scalar_type());
      y = y.index_add(0, own, weight * experts_[i]->forward(rows.index_select(0, own), pass, {}));
    }
    if (pass.training()) loss_ = balance_ * load(chosen).dot(shares.mean(0)) * std::ssize(experts_);
    return Epilogue{.residual = residual}.apply(y.view_as(x));
  }

  torch::Tensor take_auxiliary_loss() override { return std::exchange(loss_, torch::Tensor()); }

  /// No static positions: which expert works depends on what x holds.
  DecodingCapabilities capabilities() const override { return {.ragged_positions = true, .exact_prefill = true}; }

 private:
  /// The share of positions that each expert gets, float32 [experts].
  torch::Tensor load(const torch::Tensor& chosen) const {
    return torch::bincount(chosen, {}, std::ssize(experts_)).to(torch::kFloat32) / chosen.numel();
  }

  double balance_;
  Linear router_{nullptr};
  std::vector<std::shared_ptr<DenseFeedForward>> experts_;
  torch::Tensor loss_;
};

}  // namespace nmt
