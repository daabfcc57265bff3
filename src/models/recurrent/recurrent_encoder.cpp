#include "models/recurrent/recurrent_encoder.h"

#include <fmt/format.h>

#include "nn/layers/recurrent_linear.h"
#include "nn/ops/dropout.h"

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

}  // namespace nmt
