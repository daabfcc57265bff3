#pragma once

#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "models/interface/model.h"

namespace nmt::test {

/// Runs out of memory, or fails in another way, for batches of more sentences than it is allowed.
class LimitedModel final : public TranslationModel {
 public:
  LimitedModel(std::shared_ptr<TranslationModel> inner, int64_t sentences, std::function<void()> fail)
      : inner_(register_module("inner", std::move(inner))), sentences_(sentences), fail_(std::move(fail)) {}
  torch::Tensor forward(const TensorBatch& batch, ForwardContext& pass) override {
    calls.push_back(batch.source.size(0));
    if (batch.source.size(0) > sentences_) fail_();
    return inner_->forward(batch, pass);
  }
  torch::Tensor output_weight() const override { return inner_->output_weight(); }
  torch::Tensor output_bias() const override { return inner_->output_bias(); }
  std::unique_ptr<DecoderState> start(const torch::Tensor& source, const torch::Tensor& lengths) override {
    return inner_->start(source, lengths);
  }
  torch::Tensor step(DecoderState& state, const torch::Tensor& tokens, StepLogits which) override {
    return inner_->step(state, tokens, which);
  }
  int64_t target_vocabulary() const override { return inner_->target_vocabulary(); }
  void finish_gradients() override { inner_->finish_gradients(); }
  void set_compute_type(at::ScalarType type) override { inner_->set_compute_type(type); }
  at::ScalarType compute_type() const override { return inner_->compute_type(); }

  std::vector<int64_t> calls;  ///< sentences of each batch that was tried

 private:
  std::shared_ptr<TranslationModel> inner_;
  int64_t sentences_;
  std::function<void()> fail_;
};

}  // namespace nmt::test
