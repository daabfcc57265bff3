#include "training/memory/recurrent_activations.h"

#include <fmt/format.h>

#include <algorithm>

#include "nn/kernels/recurrent.h"
#include "nn/layers/recurrent_cell.h"

namespace nmt {
namespace {

int64_t size_or(int64_t size, int64_t other) { return size > 0 ? size : other; }

/// Tensors of the steps of one cell over `steps` steps of `rows` rows.
class CellSteps {
 public:
  CellSteps(CellKind kind, int64_t rows, int64_t steps, int64_t size)
      : is_lstm_(kind == CellKind::kLstm),
        gates_(kernels::gates_of(cell_of(kind)) * size),
        rows_(rows),
        steps_(steps),
        size_(size) {}

  /// Gates of the state, states and cells of every step, without the gates of the input.
  void keep(TensorSum& kept, const ComputePlace& place) const {
    kept.add(rows_ * gates_, steps_).add(rows_ * size_, steps_ * (is_lstm_ ? 2 : 1), kFloatBytes);
    if (place.bytes < kFloatBytes) kept.add(rows_ * size_, steps_);
  }
  /// Inputs and gradients of the product with the state, for the one product over all steps.
  void gather(TensorSum& late) const { late.add(rows_ * size_, steps_).add(rows_ * gates_, steps_); }
  int64_t gates() const { return gates_; }

 private:
  bool is_lstm_;
  int64_t gates_, rows_, steps_, size_;
};

}  // namespace

std::vector<PartActivations> recurrent_activations(const Config& config, const BatchShape& batch,
                                                   const ComputePlace& place) {
  const ModelConfig& c = config.model;
  const int64_t rows = batch.rows, embedding = size_or(c.embedding_size, c.d_model);
  const int64_t directions = c.bidirectional ? 2 : 1, encoder = size_or(c.encoder_size, c.d_model);
  const int64_t key = directions * encoder;
  const auto tensor = [&](int64_t elements, int64_t bytes = 0) {
    return TensorSum(place).add(elements, 1, bytes).bytes();
  };
  std::vector<PartActivations> parts;

  const CellSteps read(c.cell, rows, batch.source, encoder);
  int64_t input = embedding;
  for (int64_t i = 0; i < c.encoder_blocks.value_or(c.num_blocks); ++i) {
    const int64_t entering = tensor(rows * batch.source * input);
    TensorSum kept(place), late(place);
    for (int64_t direction = 0; direction < directions; ++direction) {
      kept.add(rows * batch.source * read.gates());
      read.keep(kept, place);
      late.add(rows * batch.source * read.gates());
      read.gather(late);
    }
    PartActivations part{
        .name = fmt::format("encoder.layer_{}.", i),
        .kept = entering + kept.bytes(),
        .forward = tensor(rows * batch.source * encoder, kFloatBytes) + tensor(rows * batch.source * key, kFloatBytes),
        .backward = 2 * tensor(rows * batch.source * key, kFloatBytes),
        .late = entering + late.bytes()};
    if (config.training.gradient_checkpointing) {
      part.forward += kept.bytes();
      part.backward += std::max(kept.bytes(), late.bytes() + late.bytes() / 3);  // one goes as the other comes
      part.kept = entering + tensor(rows * encoder, kFloatBytes) * directions;
      part.late = 0;
    }
    parts.push_back(std::move(part));
    input = key;
  }

  // The decoder, as one part: the loop goes through all of it at every step.
  const int64_t size = c.d_model, steps = batch.target, layers = c.decoder_blocks.value_or(c.num_blocks);
  const bool bahdanau = c.decoder_order == DecoderOrder::kBahdanau,
             attends = c.attention_score != AttentionScoreKind::kNone;
  const bool feeds = !bahdanau && c.input_feeding;
  const int64_t features = size + key + (bahdanau ? embedding : 0), output = output_features(c);
  const int64_t entering = bahdanau ? key : feeds ? output : 0, inner = size_or(c.attention_size, size);
  const bool drops = c.residual_dropout_rate.value_or(c.dropout_rate) > 0;
  const bool drops_weights = c.attention_dropout_rate.value_or(c.dropout_rate) > 0;
  const CellSteps write(c.cell, rows, steps, size);
  TensorSum kept(place), late(place);
  kept.add(rows * steps * embedding).add(rows * batch.source * key);
  for (int64_t i = 0; i < layers; ++i) {
    const int64_t in = i == 0 ? embedding + entering : size;
    if (i == 0 ? entering > 0 : drops) kept.add(rows * in, steps);
    kept.add(rows * write.gates(), steps);
    write.keep(kept, place);
    late.add(rows * in, steps).add(rows * write.gates(), steps);
    write.gather(late);
  }
  if (attends) {
    const bool additive = c.attention_score == AttentionScoreKind::kAdditive;
    if (additive || c.attention_score == AttentionScoreKind::kGeneral ||
        c.attention_score == AttentionScoreKind::kLocal) {
      kept.add(rows * batch.source * (additive ? inner : size)).add(additive ? rows * inner : 0, steps);
      if (additive) late.add(rows * size, steps).add(rows * inner, steps);
      late.add(rows * batch.source * key).add(rows * batch.source * inner);
    }
    kept.add(rows * batch.source, steps * (drops_weights ? 2 : 1), kFloatBytes).add(rows * key, steps);
    if (place.bytes < kFloatBytes) kept.add(rows * batch.source, steps);
  }
  kept.add(rows * features, feeds ? 2 * steps : 0).add(feeds ? 0 : rows * steps * features);
  const int64_t read_outs = feeds ? steps : 1, each = feeds ? rows * output : rows * steps * output;
  if (c.readout == Readout::kTanh) kept.add(each, read_outs);
  if (c.readout == Readout::kMaxout) kept.add(2 * each, read_outs).add(each, read_outs);
  if (feeds) kept.add(each, read_outs);
  if (c.readout != Readout::kLinear) {
    const int64_t made = c.readout == Readout::kMaxout ? 2 : 1;
    late.add(feeds ? rows * features : rows * steps * features, read_outs).add(made * each, read_outs);
  }
  const int64_t source_states = tensor(rows * batch.source * key);
  parts.push_back({.name = "decoder.",
                   .kept = kept.bytes(),
                   .forward = tensor(rows * features) * steps,
                   .backward = 2 * source_states + (attends ? tensor(rows * batch.source * inner) : 0),
                   .late = late.bytes()});
  return parts;
}

int64_t output_features(const ModelConfig& c) {
  if (c.architecture == Architecture::kTransformer) return c.d_model;
  const int64_t key = (c.bidirectional ? 2 : 1) * size_or(c.encoder_size, c.d_model);
  if (c.readout != Readout::kLinear) return size_or(c.readout_size, c.d_model);
  return c.d_model + key + (c.decoder_order == DecoderOrder::kBahdanau ? size_or(c.embedding_size, c.d_model) : 0);
}

}  // namespace nmt
