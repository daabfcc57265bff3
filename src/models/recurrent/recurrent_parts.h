#pragma once

#include <torch/nn/module.h>
#include <torch/nn/pimpl.h>

#include <limits>
#include <vector>

#include "config/config.h"
#include "nn/layers/gradient_checkpointing.h"
#include "nn/layers/recurrent_attention.h"
#include "nn/layers/recurrent_layer.h"
#include "nn/ops/forward_context.h"

namespace nmt {

/// Sentences as a recurrent decoder sees them.
struct Encoded {
  torch::Tensor states;                      ///< [batch, source, directions * encoder size], of the last layer
  torch::Tensor lengths;                     ///< int64 [batch] on the CPU
  std::vector<std::vector<CellState>> last;  ///< [layer][direction]
};

/// Layers of recurrent nets over the source. Dropout (model.residual_dropout_rate) between layers. With checkpointing
/// a layer keeps its input alone, and StepwiseGradients of its own: who runs it makes none for it.
class RecurrentEncoderImpl : public torch::nn::Module, public CanCheckpoint {
 public:
  explicit RecurrentEncoderImpl(const ModelConfig& config);

  /// embedded [batch, source, embedding], lengths int64 [batch] on the CPU.
  Encoded forward(const torch::Tensor& embedded, const torch::Tensor& lengths, ForwardContext& pass);

  void set_checkpointing(bool on) override { checkpointing_ = on; }
  bool checkpointing() const { return checkpointing_; }

  int64_t layers() const { return static_cast<int64_t>(layers_.size()); }
  int64_t directions() const { return directions_; }
  int64_t size() const { return size_; }                       ///< of a state, a direction
  int64_t output_size() const { return directions_ * size_; }  ///< of Encoded::states

 private:
  RecurrentLayerImpl::Output run_checkpointed(RecurrentLayer& layer, const torch::Tensor& x,
                                              const torch::Tensor& lengths, ForwardContext& pass) const;

  int64_t directions_, size_;
  double dropout_;
  bool checkpointing_ = false;
  std::vector<RecurrentLayer> layers_;
};
TORCH_MODULE(RecurrentEncoder);

/// Which sentence each row of a search translates, and the rows put up as [sentences, slots]: queries of one sentence
/// meet its keys side by side, and no keys are copied.
class SentenceRows {
 public:
  SentenceRows() = default;  ///< one row a sentence, in order
  SentenceRows(torch::Tensor sentence_of_row, int64_t sentences);

  torch::Tensor to_grid(const torch::Tensor& rows) const;  ///< [rows, ...] -> [sentences, slots, ...]
  torch::Tensor to_rows(const torch::Tensor& grid) const;

 private:
  torch::Tensor place_;  // int64 [rows]: sentence * slots + slot; undefined: the rows as they are
  int64_t sentences_ = 0, slots_ = 1;
};

/// A recurrent decoder. With e the embedding of the word before, d the state (of the last layer), c the context:
///   Bahdanau's order: c_t = attention(d_{t-1}), d_t = cell([e; c_t], d_{t-1}), readout of [d_t; c_t; e], or with
///       model.readout_state previous of [d_{t-1}; c_t; e] (Bahdanau et al. 2015, A.2.2)
///   Luong's order: d_t = cell([e; o_{t-1}], d_{t-1}), c_t = attention(d_t), readout o_t of [d_t; c_t]; o_{t-1} only
///       with input feeding, and zero at first
/// Without attention c is the encoder's last states, of both directions. Readouts (model.readout) of x: linear: x;
/// tanh: tanh(W x + b); maxout: the greater of each two features of W x + b (Goodfellow et al. 2013).
class RecurrentDecoderImpl : public torch::nn::Module {
 public:
  RecurrentDecoderImpl(const ModelConfig& config, const RecurrentEncoderImpl& encoder);

  /// What a step hands to the next one, a row a hypothesis.
  struct State {
    std::vector<CellState> layers;
    torch::Tensor fed;       ///< o_{t-1} [rows, output], with input feeding
    torch::Tensor summary;   ///< c without attention [rows, key]
    torch::Tensor coverage;  ///< the sum of past weights [rows, source], with coverage
    int64_t position = 0;    ///< of the next step, the same for all rows

    void select(const torch::Tensor& rows);  ///< new row r is old row rows[r]; int64 on the states' device
  };
  State first_state(const Encoded& encoded);
  /// What belongs to the sentences; empty without attention.
  RecurrentAttentionImpl::Memory prepare(const Encoded& encoded);

  /// One step: e [rows, embedding]. Returns what finish() takes. weights, where given, receives those of attention
  /// [rows, source] (undefined without).
  torch::Tensor advance(const torch::Tensor& e, State& state, const RecurrentAttentionImpl::Memory& memory,
                        const SentenceRows& rows, ForwardContext& pass, torch::Tensor* weights = nullptr);
  /// The input of the output layer from results of advance(), [..., any] -> [..., output_size].
  torch::Tensor finish(const torch::Tensor& advanced, ForwardContext& pass);
  int64_t output_size() const { return output_size_; }
  /// How many source tokens attention takes.
  int64_t max_source() const { return attention_ ? attention_->max_source() : std::numeric_limits<int64_t>::max(); }

 private:
  torch::Tensor attend(const torch::Tensor& query, State& state, const RecurrentAttentionImpl::Memory& memory,
                       const SentenceRows& rows, ForwardContext& pass, torch::Tensor* weights);
  /// What the readout of a step reads: [rows, features].
  torch::Tensor features_of_step(const torch::Tensor& e, State& state, const RecurrentAttentionImpl::Memory& memory,
                                 const SentenceRows& rows, ForwardContext& pass, torch::Tensor* weights);
  void step_layers(torch::Tensor x, State& state, ForwardContext& pass);
  torch::Tensor read_out(const torch::Tensor& x, ForwardContext& pass);
  /// The vector that the first state is made of: [batch, any].
  torch::Tensor source_vector(const Encoded& encoded) const;

  DecoderOrder order_;
  Readout readout_kind_;
  ReadoutState readout_state_;
  InitialState initial_state_;
  bool feeds_, covers_;
  double dropout_;
  int64_t output_size_ = 0;
  std::vector<RecurrentCell> layers_;
  RecurrentAttention attention_{nullptr};
  Linear initial_{nullptr}, readout_{nullptr};
};
TORCH_MODULE(RecurrentDecoder);

}  // namespace nmt
