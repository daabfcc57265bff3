#pragma once

#include <torch/nn/module.h>
#include <torch/types.h>

#include <functional>
#include <limits>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "data/batches.h"
#include "nn/decode/layer_cache.h"
#include "nn/inference/weights.h"
#include "nn/layers/embedding.h"
#include "nn/ops/forward_context.h"
#include "nn/ops/packed_matrix.h"
#include "search/searchable_model.h"

namespace nmt {

/// A Batch on a device. Ids int64; padding id 0.
struct TensorBatch {
  torch::Tensor source;          ///< [batch, source] pieces </s> <pad>...
  torch::Tensor source_lengths;  ///< [batch] int64, on the CPU
  torch::Tensor target_in;       ///< [batch, target] <s> pieces <pad>...
  torch::Tensor target_out;      ///< [batch, target] pieces </s> <pad>...
  torch::Tensor target_lengths;  ///< [batch] int64, on the CPU
  /// [batch, target, source] float32: of each target piece the source tokens that it is linked with, 1 over their
  /// number, else 0; undefined where the pairs are not aligned.
  torch::Tensor alignment = {};
};
TensorBatch to_tensors(const Batch& batch, torch::Device device);

/// What a model remembers of the hypotheses of a search: one row each. Made by TranslationModel::start.
class DecoderState {
 public:
  virtual ~DecoderState() = default;
  virtual int64_t rows() const = 0;
  /// New row r continues old row rows[r]: int64 [new rows], on the CPU. Rows may be repeated (a beam grows), reordered
  /// or left out (a sentence is finished). What belongs to the sentence (its encoding) is shared by its rows, not
  /// copied.
  virtual void select(const torch::Tensor& rows) = 0;
  /// Adds the rows of another state of the same model behind its own ones: sentences join a search that is under way.
  /// Where the model has DecodingCapabilities::ragged_positions.
  virtual void join(std::unique_ptr<DecoderState> other);

 private:
  friend class TranslationModel;
  struct Outputs;
  std::shared_ptr<Outputs> outputs_;  // those of restrict_outputs(); null: all
};

/// Which tokens of a step get logits.
enum class StepLogits { kLast, kEach };

/// The one interface of every architecture: training, scoring and search know nothing else.
/// Parameters' names are those in model.safetensors.
class TranslationModel : public torch::nn::Module, public SearchableModel {
 public:
  /// Teacher forcing: decoder output before the output layer, [batch, target, model]. Rows of padding are undefined.
  virtual torch::Tensor forward(const TensorBatch& batch, ForwardContext& pass) = 0;

  /// The weights of every attention layer under teacher forcing, without dropout and gradients; none where a model has
  /// no attention. target_out is not looked at.
  std::vector<AttentionMap> attention_maps(const TensorBatch& batch);
  /// The same, one layer at a time: none is kept.
  void visit_attention(const TensorBatch& batch, std::function<void(const AttentionMap&)> visitor);

  /// The output layer: logits = hidden · weightᵀ (+ bias).
  virtual torch::Tensor output_weight() const = 0;  ///< [target vocabulary, model]
  virtual torch::Tensor output_bias() const = 0;    ///< [target vocabulary], or undefined
  /// [..., model] -> [..., target vocabulary], float32. For tests and forced scoring: it makes the whole matrix.
  torch::Tensor logits(const torch::Tensor& hidden) const;

  /// What the encoder says of each token: source and source_lengths as start() takes them -> [batch, source, any]. Rows
  /// of padding are undefined. An undefined tensor where a model has no encoder.
  virtual torch::Tensor encoder_output(const torch::Tensor& /*source*/, const torch::Tensor& /*source_lengths*/) {
    return {};
  }
  /// Embeddings of source tokens: ids int64 [any] -> [any, features]; undefined where a model has none.
  virtual torch::Tensor source_embeddings(const torch::Tensor& /*ids*/) { return {}; }

  /// Encodes sentences: source [batch, source], source_lengths int64 [batch] on the CPU. One row a sentence.
  virtual std::unique_ptr<DecoderState> start(const torch::Tensor& source, const torch::Tensor& source_lengths) = 0;
  /// Feeds each row its next n tokens (the first of all is <s>), int64 [rows, n], or [rows] for one each. Returns the
  /// logits of the token after the last one, float32 [rows, target vocabulary]; with kEach after each one, [rows, n,
  /// target vocabulary]. A row's logits do not depend on the other rows (CPU, see docs/design.md).
  virtual torch::Tensor step(DecoderState& state, const torch::Tensor& tokens, StepLogits which) = 0;
  torch::Tensor step(DecoderState& state, const torch::Tensor& tokens) {
    return step(state, tokens, StepLogits::kLast);
  }
  /// What it can do in a search that starts now: that depends on its device, its types and whether gradients are on.
  virtual DecodingCapabilities capabilities() const { return {}; }

  /// The model for searches without LibTorch, as its weights are now. Throws inference::Unsupported, as capabilities()
  /// by what it could do now.
  virtual std::shared_ptr<const inference::TransformerWeights> inference_weights() {
    throw inference::Unsupported("a model that is no Transformer");
  }

  /// From now on step() gives for this state the logits of these tokens only, in their order: [rows, tokens or more],
  /// of which those beyond the tokens mean nothing. The others are not computed. On the CPU a logit has the same bits.
  void restrict_outputs(DecoderState& state, std::vector<int32_t> tokens) const;

  virtual int64_t target_vocabulary() const = 0;

  bool is_on_cpu() const override;
  std::unique_ptr<SearchGroup> group(std::span<const SearchMember> members) override;
  std::vector<AttentionLayer> attention_layers(std::span<const int64_t> source,
                                               std::span<const int64_t> target_in) override;

  /// To be called after backward(): clears the gradients of what is constant, such as the embedding of padding.
  virtual void finish_gradients() = 0;
  /// The type of activations and products: float32 or bfloat16. Parameters stay float32.
  virtual void set_compute_type(at::ScalarType type) = 0;
  virtual at::ScalarType compute_type() const = 0;
  /// How start() and step() hold their weights on the CPU while compute_type() is float32 and gradients are off;
  /// activations stay float32. Not during a search.
  void set_packing(const Packing& packing);
  /// What searches that start from now on keep their state in; kCpu before the first call. kStatic needs
  /// DecodingCapabilities::static_positions, and parameters may not move once a step was made with it. Not during a
  /// search.
  virtual void set_cache_form(CacheForm /*form*/) {}
  int64_t parameter_count() const;
  /// Names of the matrices that a search on the CPU reads only when it packs them. In a quantized model directory they
  /// may be int8 or bfloat16, and so may these parameters then.
  std::set<std::string> packed_parameters() const;

 protected:
  /// logits() for a step of a search, whose decoder's output is hidden [rows, n, model]: of the outputs that the state
  /// asks for, through packed weights where these fit.
  torch::Tensor step_logits(DecoderState& state, const torch::Tensor& hidden, StepLogits which);
  inference::Map output_map() { return packed_output_.map({{output_weight(), output_bias()}}); }
  /// Tables as rows of them are looked up; either may be the output layer's.
  EmbeddingTable source_look_ups(const torch::Tensor& table);
  EmbeddingTable target_look_ups(const torch::Tensor& table);

 private:
  EmbeddingTable look_ups(const torch::Tensor& table, PackedMatrix& own);

  PackedMatrix packed_output_, packed_source_, packed_target_;
};

}  // namespace nmt
