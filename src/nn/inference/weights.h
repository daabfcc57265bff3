#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <stdexcept>
#include <variant>
#include <vector>

#include "config/kinds.h"
#include "nn/inference/activations.h"
#include "nn/kernels/products.h"

namespace nmt {

/// For tables that have an end: throws Error where a sentence of `needed` tokens goes beyond `limit` positions.
void check_length(int64_t needed, int64_t limit, const char* kind);

}  // namespace nmt

/// A Transformer for searches on the CPU without LibTorch: its weights, packed for the kernels, and the functions that
/// compute with them on plain buffers. Every number has the bits that the model's own layers give in a search.
namespace nmt::inference {

/// A part that these functions do not know: what() says which. Such a model is searched by its own layers.
class Unsupported : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// y = x weightᵀ + bias, by packed weights.
struct Map {
  kernels::PackedWeight weight = {};
  const float* bias = nullptr;                  ///< [out], or none
  std::shared_ptr<const void> owner = nullptr;  ///< of the memory
};

/// Asks for pages of 2 MB, before any is written to: a step of a search reads all weights, and small pages cost a
/// look-up each. It is only advice: where it is not followed, nothing is lost.
void use_huge_pages(const void* memory, size_t bytes);

/// The vectors of positions 0, 1, ...: [count, features].
struct PositionTable {
  const float* rows = nullptr;
  int64_t count = 0;
  std::shared_ptr<const void> owner = nullptr;
};

/// A table of positions, trained or computed. Thread-safe.
class PositionRows {
 public:
  virtual ~PositionRows() = default;
  /// At least `count` rows. Throws Error where there are not so many.
  virtual PositionTable table(int64_t count) = 0;
};

/// Sinusoids (config/sinusoid_values.h), kept; the table grows with what is asked for.
class SinusoidTable final : public PositionRows {
 public:
  SinusoidTable(int64_t features, Sinusoid form) : features_(features), form_(form) {}
  PositionTable table(int64_t count) override;

 private:
  int64_t features_;
  Sinusoid form_;
  std::mutex mutex_;
  std::shared_ptr<const std::vector<float>> values_;
};

/// A trained table, borrowed.
class TrainedTable final : public PositionRows {
 public:
  TrainedTable(const PositionTable& all, const char* kind) : all_(all), kind_(kind) {}
  PositionTable table(int64_t count) override {
    check_length(count, all_.count, kind_);
    return all_;
  }

 private:
  PositionTable all_;
  const char* kind_;
};

struct NormWeights {
  const float* weight = nullptr;  ///< [model]; none: no normalisation
  const float* bias = nullptr;    ///< [model], or none: root mean square alone
  float epsilon = 0;
};

/// outer(activation(inner(x)) * gate(x)), or without gate.
struct FeedForwardWeights {
  Map inner = {};
  std::optional<Map> gate = {};
  Map outer = {};
  Activation activation = Activation::kRelu;
};

/// Multi-head attention by softmax(Q Kᵀ / sqrt(head_dim)) V.
struct AttentionWeights {
  int64_t heads = 0, key_value_heads = 0, head_dim = 0;
  std::optional<Map> query = {};  ///< of cross-attention
  Map together = {};              ///< self-attention: queries, keys, values side by side; cross-attention: keys, values
  std::optional<Map> output = {};
  Activation activation = Activation::kNone;    ///< of all projections but the last
  kernels::Type kept = kernels::Type::kFloat;   ///< what a search keeps of keys and values
  std::shared_ptr<PositionRows> rotation = {};  ///< rotary positions: sine and cosine of each pair [head_dim]; or none

  int64_t query_size() const { return heads * head_dim; }
  int64_t key_size() const { return key_value_heads * head_dim; }
};

/// Average attention: gate [x; g] of the mean's feed-forward net g.
struct AverageWeights {
  FeedForwardWeights feed_forward = {};
  Map gate = {};
};

/// Simpler simple recurrent unit.
struct SsruWeights {
  Map forget = {}, input = {};
};

using MixerWeights = std::variant<AttentionWeights, AverageWeights, SsruWeights>;

/// A block of the encoder, whose mixer is attention, or of the decoder, which has cross-attention.
struct BlockWeights {
  bool pre_norm = false;
  float residual_weight = 1;
  MixerWeights mixer = {};
  NormWeights mixer_norm = {};
  std::optional<AttentionWeights> cross_attention = {};
  NormWeights cross_attention_norm = {};
  FeedForwardWeights feed_forward = {};
  NormWeights feed_forward_norm = {};
};

/// Embeddings: rows of a float table, or where that is packed in less, those of the packed one.
struct EmbeddingWeights {
  int64_t vocabulary = 0;
  const float* table = nullptr;  ///< [vocabulary, model], or none
  std::optional<Map> packed = {};
  std::shared_ptr<PositionRows> positions = {};  ///< added; or none
};

struct StackWeights {
  EmbeddingWeights input = {};
  std::vector<BlockWeights> blocks = {};
  NormWeights norm = {};  ///< behind the last block
};

struct TransformerWeights {
  int64_t model = 0;
  StackWeights encoder = {}, decoder = {};
  Map output = {};
};

}  // namespace nmt::inference
