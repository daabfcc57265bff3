#include "models/recurrent/recurrent_parts.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"
#include "nn/attention/head_scores.h"
#include "nn/device/device.h"
#include "nn/layers/recurrent_cell.h"
#include "nn/ops/forward_context.h"

namespace nmt {

RecurrentEncoderImpl::RecurrentEncoderImpl(const ModelConfig& c)
    : directions_(c.bidirectional ? 2 : 1),
      size_(c.encoder_size > 0 ? c.encoder_size : c.d_model),
      dropout_(c.residual_dropout_rate.value_or(c.dropout_rate)) {
  int64_t input = c.embedding_size > 0 ? c.embedding_size : c.d_model;
  for (int64_t i = 0; i < c.encoder_blocks.value_or(c.num_blocks); ++i) {
    layers_.push_back(
        register_module(fmt::format("layer_{}", i), RecurrentLayer(cell_of(c.cell), input, size_, c.bidirectional)));
    input = output_size();
  }
}

RecurrentLayerImpl::Output RecurrentEncoderImpl::run_checkpointed(RecurrentLayer& layer, const torch::Tensor& x,
                                                                  const torch::Tensor& lengths,
                                                                  ForwardContext& pass) const {
  // The states of all steps, then of each direction the last state and, of an LSTM, cell.
  const auto part = [layer, lengths](const std::vector<torch::Tensor>& in, ForwardContext&) mutable {
    const StepwiseGradients stepwise(*layer, in[0].scalar_type());
    const auto output = layer(in[0], lengths);
    std::vector<torch::Tensor> tensors = {output.states};
    for (const auto& last : output.last) {
      tensors.push_back(last.state);
      if (last.cell.defined()) tensors.push_back(last.cell);
    }
    return tensors;
  };
  const auto tensors = checkpointed(part, {x}, layer->parameters(), pass);
  const size_t each = (tensors.size() - 1) / static_cast<size_t>(directions_);
  RecurrentLayerImpl::Output output{.states = tensors[0], .last = {}};
  for (size_t at = 1; at < tensors.size(); at += each)
    output.last.push_back({tensors[at], each > 1 ? tensors[at + 1] : torch::Tensor()});
  return output;
}

Encoded RecurrentEncoderImpl::forward(const torch::Tensor& embedded, const torch::Tensor& lengths,
                                      ForwardContext& pass) {
  Encoded encoded{.states = {}, .lengths = lengths, .last = {}};
  auto x = embedded.transpose(0, 1);  // [source, batch, ...]: steps lie together
  for (size_t i = 0; i < layers_.size(); ++i) {
    if (i > 0) x = dropout(x, dropout_, pass);
    auto output = checkpointing_ ? run_checkpointed(layers_[i], x, lengths, pass) : layers_[i](x, lengths);
    x = output.states;
    encoded.last.push_back(std::move(output.last));
  }
  encoded.states = x.transpose(0, 1).contiguous();
  return encoded;
}

namespace {

int64_t size_or(int64_t size, int64_t other) { return size > 0 ? size : other; }

// The last states of a layer, of all directions side by side: [batch, directions * size] float32.
torch::Tensor joined(const std::vector<CellState>& directions, torch::Tensor CellState::*part) {
  std::vector<torch::Tensor> parts;
  for (const auto& direction : directions) parts.push_back(direction.*part);
  return torch::cat(parts, -1);
}

}  // namespace

SentenceRows::SentenceRows(torch::Tensor sentence_of_row, int64_t sentences) : sentences_(sentences) {
  const int64_t rows = sentence_of_row.size(0);
  const int64_t* sentence = sentence_of_row.const_data_ptr<int64_t>();
  std::vector<int64_t> used(sentences), slot(rows);
  for (int64_t r = 0; r < rows; ++r) slot[r] = used[sentence[r]]++;
  slots_ = std::max<int64_t>(1, *std::max_element(used.begin(), used.end()));
  place_ = torch::empty({rows}, torch::kInt64);
  for (int64_t r = 0; r < rows; ++r) place_.mutable_data_ptr<int64_t>()[r] = sentence[r] * slots_ + slot[r];
}

torch::Tensor SentenceRows::to_grid(const torch::Tensor& rows) const {
  if (!place_.defined()) return rows.unsqueeze(1);
  auto sizes = rows.sizes().vec();
  sizes[0] = sentences_ * slots_;
  return torch::zeros(sizes, rows.options())
      .index_copy_(0, copy_to_device(place_, rows.device()), rows)
      .unflatten(0, {-1, slots_});
}

torch::Tensor SentenceRows::to_rows(const torch::Tensor& grid) const {
  if (!place_.defined()) return grid.squeeze(1);
  return grid.flatten(0, 1).index_select(0, copy_to_device(place_, grid.device()));
}

void RecurrentDecoderImpl::State::select(const torch::Tensor& rows) {
  const auto choose = [&](torch::Tensor& x) {
    if (x.defined()) x = x.index_select(0, rows);
  };
  for (auto& layer : layers) choose(layer.state), choose(layer.cell);
  choose(fed), choose(summary), choose(coverage);
}

RecurrentDecoderImpl::RecurrentDecoderImpl(const ModelConfig& c, const RecurrentEncoderImpl& encoder)
    : order_(c.decoder_order),
      readout_kind_(c.readout),
      readout_state_(c.readout_state),
      initial_state_(c.initial_state),
      feeds_(order_ == DecoderOrder::kLuong && c.input_feeding),
      covers_(c.coverage),
      dropout_(c.residual_dropout_rate.value_or(c.dropout_rate)) {
  const int64_t size = c.d_model, key = encoder.output_size(), embedding = size_or(c.embedding_size, size);
  const int64_t layers = c.decoder_blocks.value_or(c.num_blocks);
  const bool bahdanau = order_ == DecoderOrder::kBahdanau;

  const int64_t features = size + key + (bahdanau ? embedding : 0);
  output_size_ = readout_kind_ == Readout::kLinear ? features : size_or(c.readout_size, size);
  const int64_t entering = bahdanau ? key : feeds_ ? output_size_ : 0;  // beside the embedding
  for (int64_t i = 0; i < layers; ++i)
    layers_.push_back(register_module(fmt::format("layer_{}", i),
                                      RecurrentCell(cell_of(c.cell), i == 0 ? embedding + entering : size, size)));
  if (c.attention_score != AttentionScoreKind::kNone)
    attention_ =
        register_module("attention", RecurrentAttention(RecurrentAttentionImpl::Options{
                                         .score = c.attention_score,
                                         .sizes = {.query = size,
                                                   .key = key,
                                                   .inner = size_or(c.attention_size, size),
                                                   .bias = c.attention_bias,
                                                   .coverage = c.coverage,
                                                   .max_source = c.max_positions},
                                         .softmax = c.attention_normalization == AttentionNormalization::kSoftmax,
                                         .window = c.attention_window,
                                         .local_window = c.local_window,
                                         .dropout = c.attention_dropout_rate.value_or(c.dropout_rate)}));
  if (readout_kind_ != Readout::kLinear)
    readout_ = register_module("readout", Linear(features, output_size_ * (readout_kind_ == Readout::kMaxout ? 2 : 1),
                                                 LinearImpl::Bias::kYes));

  if (initial_state_ == InitialState::kBackward && encoder.directions() == 1)
    throw Error("model.initial_state: backward needs model.bidirectional; use last");
  if (initial_state_ == InitialState::kCopy && (key != size || encoder.layers() != layers))
    throw Error(
        fmt::format("model.initial_state: copy needs states of the same size and number on both sides, not {} "
                    "layers of {} and {} of {}; use last",
                    encoder.layers(), key, layers, size));
  if (initial_state_ == InitialState::kCopy || initial_state_ == InitialState::kZero) return;
  const int64_t vector = initial_state_ == InitialState::kBackward ? encoder.size() : key;
  initial_ = register_module("initial", Linear(vector, layers * size, LinearImpl::Bias::kYes));
}

torch::Tensor RecurrentDecoderImpl::source_vector(const Encoded& encoded) const {
  if (initial_state_ == InitialState::kLast) return joined(encoded.last.back(), &CellState::state);
  if (initial_state_ == InitialState::kBackward) return encoded.last.back()[1].state;
  const auto floats = torch::TensorOptions(torch::kFloat32).device(encoded.states.device());
  const auto lengths = copy_to_device(encoded.lengths, floats.device()).unsqueeze(1);
  const auto real = torch::arange(encoded.states.size(1), floats) < lengths;
  const auto shares = (real.to(torch::kFloat32) / lengths.clamp_min(1)).to(encoded.states.scalar_type());
  return weighted_sums(shares.unsqueeze(1), encoded.states).squeeze(1);
}

RecurrentDecoderImpl::State RecurrentDecoderImpl::first_state(const Encoded& encoded) {
  const int64_t rows = encoded.lengths.size(0);
  const auto device = encoded.states.device();
  const auto type = encoded.states.scalar_type();
  State state;
  for (auto& layer : layers_) state.layers.push_back(layer->zero_state(rows, device));
  if (initial_state_ == InitialState::kCopy) {
    for (size_t i = 0; i < layers_.size(); ++i) {
      auto& layer = state.layers[i];
      layer.state = joined(encoded.last[i], &CellState::state);
      if (layer.cell.defined()) layer.cell = joined(encoded.last[i], &CellState::cell);
    }
  } else if (initial_) {
    const auto states = initial_(source_vector(encoded).to(type)).to(torch::kFloat32).tanh();
    for (size_t i = 0; i < layers_.size(); ++i)
      state.layers[i].state = states.narrow(1, static_cast<int64_t>(i) * layers_[i]->size(), layers_[i]->size());
  }
  if (feeds_) state.fed = torch::zeros({rows, output_size_}, encoded.states.options());
  if (!attention_) state.summary = joined(encoded.last.back(), &CellState::state).to(type);
  if (covers_)
    state.coverage = torch::zeros({rows, encoded.states.size(1)}, encoded.states.options().dtype(torch::kFloat32));
  return state;
}

RecurrentAttentionImpl::Memory RecurrentDecoderImpl::prepare(const Encoded& encoded) {
  return attention_ ? attention_->prepare(encoded.states, encoded.lengths) : RecurrentAttentionImpl::Memory();
}

torch::Tensor RecurrentDecoderImpl::attend(const torch::Tensor& query, State& state,
                                           const RecurrentAttentionImpl::Memory& memory, const SentenceRows& rows,
                                           ForwardContext& pass, torch::Tensor* weights) {
  if (!attention_) return state.summary;
  const auto coverage = covers_ ? rows.to_grid(state.coverage) : torch::Tensor();
  const auto queries = rows.to_grid(query.to(memory.values.scalar_type()));
  const auto result = attention_(queries, memory, coverage, state.position, pass);
  if (covers_) state.coverage = state.coverage + rows.to_rows(result.weights);
  if (weights) *weights = rows.to_rows(result.weights);
  return rows.to_rows(result.context);
}

void RecurrentDecoderImpl::step_layers(torch::Tensor x, State& state, ForwardContext& pass) {
  const auto type = x.scalar_type();
  for (size_t i = 0; i < layers_.size(); ++i) {
    state.layers[i] = layers_[i](i == 0 ? x : dropout(x, dropout_, pass), state.layers[i]);
    x = state.layers[i].state.to(type);
  }
}

torch::Tensor RecurrentDecoderImpl::advance(const torch::Tensor& e, State& state,
                                            const RecurrentAttentionImpl::Memory& memory, const SentenceRows& rows,
                                            ForwardContext& pass, torch::Tensor* weights) {
  auto advanced = features_of_step(e, state, memory, rows, pass, weights);
  ++state.position;
  if (!feeds_) return advanced;
  state.fed = read_out(advanced, pass);
  return state.fed;
}

torch::Tensor RecurrentDecoderImpl::features_of_step(const torch::Tensor& e, State& state,
                                                     const RecurrentAttentionImpl::Memory& memory,
                                                     const SentenceRows& rows, ForwardContext& pass,
                                                     torch::Tensor* weights) {
  const auto type = e.scalar_type();
  if (order_ == DecoderOrder::kBahdanau) {
    const auto before = state.layers.back().state;
    const auto context = attend(before, state, memory, rows, pass, weights);
    step_layers(torch::cat({e, context}, -1), state, pass);
    const auto& read = readout_state_ == ReadoutState::kPrevious ? before : state.layers.back().state;
    return torch::cat({read.to(type), context, e}, -1);
  }
  step_layers(feeds_ ? torch::cat({e, state.fed}, -1) : e, state, pass);
  const auto& query = state.layers.back().state;
  return torch::cat({query.to(type), attend(query, state, memory, rows, pass, weights)}, -1);
}

torch::Tensor RecurrentDecoderImpl::finish(const torch::Tensor& advanced, ForwardContext& pass) {
  return feeds_ ? advanced : read_out(advanced, pass);
}

torch::Tensor RecurrentDecoderImpl::read_out(const torch::Tensor& x, ForwardContext& pass) {
  auto y = x;
  if (readout_kind_ == Readout::kTanh) y = readout_(x).tanh();
  if (readout_kind_ == Readout::kMaxout) y = readout_(x).unflatten(-1, {-1, 2}).amax(-1);
  return dropout(y, dropout_, pass);
}

}  // namespace nmt
