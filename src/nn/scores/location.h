#pragma once

#include <fmt/format.h>

#include "base/error.h"
#include "nn/ops/linear.h"
#include "nn/scores/attention_score.h"

namespace nmt {

/// W q: a score of each position, whatever stands there (Luong et al. 2015, "location"). Sources have a greatest
/// length.
class LocationScore final : public AttentionScore {
 public:
  explicit LocationScore(const AttentionScoreOptions& options)
      : places_(register_module("places", Linear(options.query, options.max_source, LinearImpl::Bias::kNo))) {}
  /// Keys of more than max_source positions: Error.
  torch::Tensor prepare(const torch::Tensor& keys) override {
    const int64_t max = max_source();
    if (keys.size(1) > max)
      throw Error(fmt::format(
          "attention score location: the source has {} positions, its table {}; cut sources (data.maxlen1) or raise "
          "model.max_positions",
          keys.size(1), max));
    return keys;
  }
  torch::Tensor forward(const torch::Tensor& query, const torch::Tensor& prepared) override {
    return places_(query).narrow(-1, 0, prepared.size(1));
  }
  int64_t max_source() const override { return places_->weight.size(0); }

 private:
  Linear places_;
};

}  // namespace nmt
