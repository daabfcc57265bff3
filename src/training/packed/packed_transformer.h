#pragma once

#include <torch/types.h>

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "config/config.h"
#include "nn/kernels/kernels.h"
#include "training/packed/batch_plan.h"
#include "training/packed/flat_weights.h"
#include "training/packed/packed_operations.h"

namespace nmt {

/// y = x weightᵀ + bias with where its gradients go.
struct PackedMap {
  torch::Tensor weight, weight_gradient;  ///< [out, in]: in the type of activations; float32
  torch::Tensor bias = {};                ///< [out] in the type of activations; undefined: none
  int64_t bias_parts = -1;                ///< where parts of the bias' gradient begin; -1: others add them up, or none
};

/// One normalisation and the residual connection before it.
struct PackedNormLayer {
  torch::Tensor weight, bias, r_bias;  ///< float32 [model]
  int64_t parts = 0;                   ///< where parts of their gradients begin
};

/// Self-attention, attention to the source, or feed-forward net, and the norm behind its residual connection.
struct PackedSublayer {
  enum class Kind { kSelf, kCross, kFeedForward };
  Kind kind;
  PackedMap inner;     ///< queries, keys and values side by side; queries; or the inner layer
  PackedMap outer;     ///< its bias is added with the residual
  int64_t number = 0;  ///< kCross: of the block, whose keys and values stand there
  PackedNormLayer norm = {};
};

/// Encoder or decoder.
struct PackedStack {
  std::optional<PackedNormLayer> first = {};  ///< pre-norm: before the first sublayer, without a residual connection
  std::vector<PackedSublayer> sublayers;
  torch::Tensor table, table_gradient;          ///< of embeddings: [rows, model]
  torch::Tensor positions, position_gradients;  ///< the same of positions; undefined: none, or not trained
};

/// The name of the output layer's weight.
std::string output_table(const ModelConfig& config);

/// sum [out, in] += dy [rows, out]ᵀ x [rows, in]: float32, by the products of dy's and x's type.
void add_product(torch::Tensor sum, const torch::Tensor& dy, const torch::Tensor& x);

/// The loss of a Transformer on packed words, and its gradients, written out: each step is a product of LibTorch or one
/// of PackedOperations. What it computes is that of Transformer and Objective.
class PackedTransformer {
 public:
  struct Options {
    double smoothing = 0;                        ///< spread over all classes (Smoothing::rate_over_all)
    std::optional<kernels::PairLoss> pair = {};  ///< two predictions for each word (R-Drop)
  };
  /// config: one that reason_against_packed_updates() has nothing against. All that is given outlives this.
  PackedTransformer(const ModelConfig& config, const Options& options, int64_t target_vocabulary,
                    const FlatWeights& weights, PackedOperations& operations);

  /// Adds the gradients of the batch' loss times batch.scale to weights.gradients(), those of padding's embedding, too
  /// (TranslationModel::finish_gradients). Returns the loss, -log p(label), in
  /// nats, and how many labels are the best: sums over target tokens, float64 [3] on the device.
  torch::Tensor add_gradients(const PackedBatch& batch);

  /// The most positions that there are vectors or angles for.
  int64_t position_limit() const { return position_limit_; }

 private:
  class Pass;

  PackedMap map_of(const std::string& name, int64_t out, int64_t in, bool sums_bias);
  PackedNormLayer norm_of(const std::string& name, const std::string& r_bias);
  PackedStack stack_of(bool is_decoder, int64_t blocks);
  int64_t add_parts(int64_t rows, int64_t columns, const std::vector<std::pair<int64_t, std::string>>& sums);

  const ModelConfig& config_;
  Options options_;
  const FlatWeights& weights_;
  PackedOperations& operations_;
  PackedStack encoder_, decoder_;
  PackedMap source_keys_, output_;  // keys and values of all decoder blocks; the output layer
  int64_t classes_, position_limit_;
  torch::Tensor zeros_, angles_, pair_;
  // Sums of columns, all in one launch at the end.
  int64_t parts_ = 0;
  std::vector<int64_t> places_of_sums_;
  torch::Tensor sum_places_;
};

}  // namespace nmt
