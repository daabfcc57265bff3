#pragma once

#include <torch/nn/module.h>
#include <torch/types.h>

#include <limits>
#include <memory>

#include "config/kinds.h"
#include "nn/attention/head_scores.h"
#include "nn/decode/layer_cache.h"
#include "nn/inference/weights.h"
#include "nn/ops/initial_values.h"

namespace nmt {

/// A kind of positions and its sizes. What a kind has no use for is ignored.
struct PositionOptions {
  Choice<PositionKind> kind = PositionKind::kSinusoidal;
  Choice<Sinusoid> sinusoid = Sinusoid::kInterleaved;  ///< sinusoidal, transformer_xl: form of the table
  int64_t model = 512, heads = 8;
  int64_t max_positions = 512;  ///< learned, product: rows of the table; hierarchical: its square is the limit
  int64_t max_distance = 16;    ///< shaw, deberta: farther ones share a vector; t5: where the last bucket begins
  int64_t buckets = 32;         ///< t5
  Choice<ProductForm> product_form = ProductForm::kShifted;
  int64_t convolution_width = 7;  ///< convolution: positions that it reads, the present one among them
  bool two_sided = true;          ///< t5: keys may follow their query (encoder)
  /// Relative kinds: the positions of the first layer of the same stack (null for itself), whose tables the others
  /// share where the kind does so.
  std::shared_ptr<HeadScores> first_layer = nullptr;
};

/// Absolute positions: act on the embeddings, once, before the first block.
class Positions : public torch::nn::Module, public HasInitialValues {
 public:
  /// x float32 [batch, time, model] at positions 0 .. time-1. is_real bool [batch, time, 1]: where false, x stays as it
  /// is; undefined: all of it gets positions.
  virtual torch::Tensor forward(const torch::Tensor& x, const torch::Tensor& is_real) = 0;
  /// The cache for a search that starts; step() gets it back. Null where nothing is kept.
  virtual std::unique_ptr<LayerCache> start(const CacheOptions& /*options*/) const { return nullptr; }
  /// forward() for a decoding step: x [rows, n, model], of which the first ones stand at `positions`. Returns x's
  /// shape.
  virtual torch::Tensor step(const torch::Tensor& x, const RowPositions& positions, LayerCache* cache) = 0;
  /// How many positions there are.
  virtual int64_t limit() const { return std::numeric_limits<int64_t>::max(); }
  virtual DecodingCapabilities capabilities() const { return {.ragged_positions = true, .exact_prefill = true}; }
  /// Where step() adds a vector of the position to x: these vectors. Throws inference::Unsupported.
  virtual std::shared_ptr<inference::PositionRows> inference_rows() const {
    throw inference::Unsupported("positions that are no added vectors");
  }
};

std::shared_ptr<Positions> make_positions(const PositionOptions& options);  ///< null for a relative kind, and none
/// For one layer of self-attention. Null for an absolute kind, and none.
std::shared_ptr<HeadScores> make_relative_positions(const PositionOptions& options);

}  // namespace nmt
