// The examples of docs/decoding_state.md.
#include <ATen/ops/cat.h>
#include <ATen/ops/cummax.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <tuple>
#include <vector>

#include "models/model_checks.h"
#include "models/transformer/decoder_states.h"
#include "nn/layers/embedding.h"
#include "nn/layers/multi_head_attention.h"
#include "nn/positions/positions.h"
#include "tensor_support.h"

namespace nmt::decoding_state_guide_test {
namespace {

constexpr int64_t kModel = 8, kWords = 17;

const std::vector<test::Pair> kPairs = {
    {{5, 9, 4, 11}, {4, 8, 15, 6, 9, 12, 5}}, {{7}, {9, 6, 5, 10}}, {{6, 5}, {7}}, {{9}, {4, 4, 16, 8}}};

/// The maximum of all positions so far, feature by feature.
class MaximumMixer final : public Mixer {
 public:
  torch::Tensor forward(const torch::Tensor& x, const torch::Tensor& /*lengths*/, ForwardContext& /*pass*/) override {
    return std::get<0>(at::cummax(x, 1));
  }
  std::unique_ptr<LayerCache> start(const CacheOptions& /*options*/) const override {
    return std::make_unique<RowState>();  // one tensor a row
  }
  torch::Tensor step(const torch::Tensor& x, LayerCache& cache, const RowPositions& /*positions*/,
                     const torch::Tensor& residual) override {
    auto& maximum = dynamic_cast<RowState&>(cache).value;  // [rows, 1, model]; undefined before the first step
    const auto y = std::get<0>(at::cummax(maximum.defined() ? at::cat({maximum, x}, 1) : x, 1));
    maximum = y.narrow(1, y.size(1) - 1, 1);
    const auto result = y.narrow(1, y.size(1) - x.size(1), x.size(1));  // of the n new positions
    return residual.defined() ? result + residual : result;
  }
  DecodingCapabilities capabilities() const override { return {.exact_prefill = true}; }
};

class DecoderOnly final : public TranslationModel {
 public:
  explicit DecoderOnly(std::vector<std::shared_ptr<Mixer>> mixers) : mixers_(std::move(mixers)) {
    table_ = register_parameter("embedding", torch::empty({kWords, kModel}));
    for (size_t i = 0; i < mixers_.size(); ++i) register_module("mixer_" + std::to_string(i), mixers_[i]);
    input_ = std::make_unique<InputLayer>(InputLayer::Options(), make_positions({.model = kModel}));
    const torch::NoGradGuard no_grad;
    double start = 0;
    for (auto& parameter : parameters()) parameter.copy_(test::wave(parameter.sizes(), 0.5, ++start));
  }

  torch::Tensor forward(const TensorBatch& batch, ForwardContext& pass) override {
    auto x = input_->forward(batch.target_in, table_, torch::kFloat32, pass);
    for (auto& mixer : mixers_) x = x + mixer->forward(x, batch.target_lengths, pass);
    return x;
  }
  std::unique_ptr<DecoderState> start(const torch::Tensor& /*source*/, const torch::Tensor& lengths) override {
    const CacheOptions options{.form = CacheForm::kCpu};
    DecoderCache cache{.input = input_->start(options), .blocks = {}};
    for (auto& mixer : mixers_) cache.blocks.push_back({.past = mixer->start(options), .source = nullptr});
    return std::make_unique<CachedState>(lengths, std::move(cache));  // one row a sentence
  }
  using TranslationModel::step;
  torch::Tensor step(DecoderState& state, const torch::Tensor& next, StepLogits which) override {
    const auto tokens = next.dim() == 1 ? next.unsqueeze(1) : next;  // [rows, n]
    auto& own = dynamic_cast<CachedState&>(state);
    const StepRows rows = own.advance(tokens.size(1));
    auto x = input_->step(tokens, table_, rows.positions, own.cache().input.get(), torch::kFloat32);
    for (size_t i = 0; i < mixers_.size(); ++i)
      x = mixers_[i]->step(x, *own.cache().blocks[i].past, rows.positions, /*residual=*/x);
    return step_logits(state, x, which);
  }
  DecodingCapabilities capabilities() const override {
    auto all = input_->capabilities();
    for (const auto& mixer : mixers_) all = all & mixer->capabilities();
    return all;
  }
  torch::Tensor output_weight() const override { return table_; }
  torch::Tensor output_bias() const override { return {}; }
  int64_t target_vocabulary() const override { return kWords; }
  void finish_gradients() override {}
  void set_compute_type(at::ScalarType) override {}
  at::ScalarType compute_type() const override { return torch::kFloat32; }

 private:
  torch::Tensor table_;
  std::unique_ptr<InputLayer> input_;
  std::vector<std::shared_ptr<Mixer>> mixers_;
};

std::shared_ptr<Mixer> self_attention() {
  return std::make_shared<MultiHeadAttentionImpl>(MultiHeadAttentionImpl::Options{.model = kModel, .heads = 2});
}

TEST(DecodingStateGuide, ADecoderOnlyModelDecodesAsItIsTrained) {
  for (const bool with_maximum : {false, true}) {
    std::vector<std::shared_ptr<Mixer>> mixers = {self_attention(), self_attention()};
    if (with_maximum) mixers.push_back(std::make_shared<MaximumMixer>());
    DecoderOnly model(mixers);
    test::expect_steps_of_the_full_pass(model, kPairs, torch::kCPU, 1e-4);  // of logits up to 85
    test::expect_selected_rows_continue(model, kPairs, torch::kCPU, 4, /*same_bits=*/true);
    test::expect_prefill_of_single_steps(model, kPairs, torch::kCPU);
    ASSERT_EQ(model.capabilities().ragged_positions, !with_maximum);
    if (!with_maximum) test::expect_prefilled_rows_join(model, kPairs);
  }
}

}  // namespace
}  // namespace nmt::decoding_state_guide_test
