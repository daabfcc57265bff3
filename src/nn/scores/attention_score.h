#pragma once

#include <torch/nn/module.h>
#include <torch/types.h>

#include <limits>
#include <string>

#include "nn/ops/initial_values.h"

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

}  // namespace nmt
