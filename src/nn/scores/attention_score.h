#pragma once

#include <fmt/format.h>
#include <torch/nn/module.h>
#include <torch/types.h>

#include <cmath>
#include <limits>
#include <memory>
#include <string>

#include "base/error.h"
#include "config/kinds.h"
#include "nn/attention/head_scores.h"
#include "nn/ops/initial_values.h"
#include "nn/ops/linear.h"

namespace nmt {

/// Sizes of a score function. What a score has no use for is ignored.
struct AttentionScoreOptions {
  int64_t query = 512, key = 512;  ///< features of a query, of a key
  int64_t inner = 512;             ///< additive: size of the hidden layer
  bool bias = false;               ///< additive: a bias in the hidden layer
  bool coverage = false;           ///< additive: a weight for the attention that a key has had before
  int64_t max_source = 512;        ///< location: keys at most
};

/// How well each query fits each key: score(q, k), before masks and normalisation. In recurrent decoders queries are
/// states and keys the encoder's output; in a Transformer a head is folded into the batch.
class AttentionScore : public torch::nn::Module, public HasInitialValues {
 public:
  /// What depends on the keys alone, once a sentence: keys [batch, source, key] -> [batch, source, any].
  virtual torch::Tensor prepare(const torch::Tensor& keys) = 0;
  /// query [batch, target, query] against prepared keys of the same type. Returns [batch, target, source].
  virtual torch::Tensor forward(const torch::Tensor& query, const torch::Tensor& prepared) = 0;
  /// How many keys a sentence may have.
  virtual int64_t max_source() const { return std::numeric_limits<int64_t>::max(); }
  /// Its matrices start as those of scores.
  InitialValues initial_values_below(const torch::nn::Module& /*submodule*/,
                                     const InitialValues& values) const override {
    return values.with_matrices(values.scores);
  }
};

/// Throws Error if queries and keys differ in size.
void require_equal_sizes(const std::string& name, const AttentionScoreOptions& options);

/// qᵀk, of queries and keys of one size (Luong et al. 2015, "dot").
class DotScore final : public AttentionScore {
 public:
  explicit DotScore(const AttentionScoreOptions& options) { require_equal_sizes("dot", options); }
  torch::Tensor prepare(const torch::Tensor& keys) override { return keys; }
  torch::Tensor forward(const torch::Tensor& query, const torch::Tensor& prepared) override {
    return dot_scores(query, prepared);
  }
};

/// qᵀk / sqrt(size), of queries and keys of one size (Vaswani et al. 2017, eq. 1).
class ScaledDotScore final : public AttentionScore {
 public:
  explicit ScaledDotScore(const AttentionScoreOptions& options)
      : scale_(1.0 / std::sqrt(static_cast<double>(options.key))) {
    require_equal_sizes("scaled_dot", options);
  }
  torch::Tensor prepare(const torch::Tensor& keys) override { return keys; }
  torch::Tensor forward(const torch::Tensor& query, const torch::Tensor& prepared) override {
    return dot_scores(query * scale_, prepared);
  }

 private:
  double scale_;
};

/// qᵀ W k: bilinear (Luong et al. 2015, "general"). Sizes may differ.
class GeneralScore final : public AttentionScore {
 public:
  explicit GeneralScore(const AttentionScoreOptions& options)
      : key_(register_module("key", Linear(options.key, options.query, LinearImpl::Bias::kNo))) {}
  torch::Tensor prepare(const torch::Tensor& keys) override { return key_(keys); }
  torch::Tensor forward(const torch::Tensor& query, const torch::Tensor& prepared) override {
    return dot_scores(query, prepared);
  }

 private:
  Linear key_;  // W
};

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

/// qᵀk / (|q| |k|), of queries and keys of one size: the cosine of their angle (Graves et al. 2014).
class CosineScore final : public AttentionScore {
 public:
  explicit CosineScore(const AttentionScoreOptions& options) { require_equal_sizes("cosine", options); }
  torch::Tensor prepare(const torch::Tensor& keys) override { return unit(keys); }
  torch::Tensor forward(const torch::Tensor& query, const torch::Tensor& prepared) override {
    return dot_scores(unit(query), prepared);
  }

 private:
  // Vectors of length 1; a zero vector, such as padding, has score 0.
  static torch::Tensor unit(const torch::Tensor& x) {
    return x * (x.to(torch::kFloat32).square().sum(-1, /*keepdim=*/true) + 1e-12).rsqrt().to(x.scalar_type());
  }
};

/// beta qᵀk / (|q| |k|), of queries and keys of one size, with a trained sharpness beta: the cosine alone is at most 1,
/// and its softmax hardly tells keys apart (Graves et al. 2014, eq. 5, whose beta is the controller's; Henry et al.
/// 2020). beta starts at sqrt(size), so that the score is scaled_dot of vectors whose features have mean square 1.
class ScaledCosineScore final : public AttentionScore {
 public:
  explicit ScaledCosineScore(const AttentionScoreOptions& options) : cosine_(options) {
    beta_ = register_parameter("beta", torch::full({1}, std::sqrt(static_cast<double>(options.key)), torch::kFloat32));
  }
  torch::Tensor prepare(const torch::Tensor& keys) override { return cosine_.prepare(keys); }
  torch::Tensor forward(const torch::Tensor& query, const torch::Tensor& prepared) override {
    return cosine_.forward(query, prepared) * beta_.to(query.scalar_type());
  }

 private:
  CosineScore cosine_;
  torch::Tensor beta_;  // [1]
};

/// vᵀ tanh(W q + U k + b) (Bahdanau et al. 2015, A.1.2). With coverage, the attention c that a key has had in earlier
/// steps enters: vᵀ tanh(W q + U k + c u + b) (See et al. 2017, eq. 11).
class AdditiveScore final : public AttentionScore {
 public:
  explicit AdditiveScore(const AttentionScoreOptions& options);

  void reset_parameters(const InitialValues& values, at::Generator& generator) override;
  torch::Tensor prepare(const torch::Tensor& keys) override { return key_(keys); }
  torch::Tensor forward(const torch::Tensor& query, const torch::Tensor& prepared) override {
    return forward(query, prepared, torch::Tensor());
  }
  /// coverage float32 [batch, target, source], the sum of earlier weights; undefined: none.
  torch::Tensor forward(const torch::Tensor& query, const torch::Tensor& prepared, const torch::Tensor& coverage);

 private:
  Linear query_, key_;
  torch::Tensor v_, u_;  // [1, inner]
};

/// sum_i v_i tanh(query_i + key_i + coverage u_i): queries [batch, target, inner], keys [batch, source, inner]; v and u
/// float32 with inner elements; coverage and u may be undefined. Returns [batch, target, source] in the queries' type.
torch::Tensor additive_scores(const torch::Tensor& queries, const torch::Tensor& keys, const torch::Tensor& v,
                              const torch::Tensor& coverage, const torch::Tensor& u);

/// The same by plain tensor operations: any device; what the kernel is tested against.
torch::Tensor plain_additive_scores(const torch::Tensor& queries, const torch::Tensor& keys, const torch::Tensor& v,
                                    const torch::Tensor& coverage, const torch::Tensor& u);

/// Throws Error for local and none, which are no score functions, and for sizes that a score cannot take.
std::shared_ptr<AttentionScore> make_attention_score(AttentionScoreKind kind, const AttentionScoreOptions& options);

/// A score function for the heads of one attention layer: heads are folded into the batch, so they share its weights,
/// whose names begin with `name`.
std::shared_ptr<HeadScores> fold_heads(const std::string& name, std::shared_ptr<AttentionScore> score);

/// That of a kind (make_attention_score). Null for scaled_dot, which is what attention has without.
std::shared_ptr<HeadScores> make_head_scores(AttentionScoreKind score, int64_t head_dim);

}  // namespace nmt
