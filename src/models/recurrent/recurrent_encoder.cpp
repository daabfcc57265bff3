#include "models/recurrent/recurrent_encoder.h"

#include <fmt/format.h>

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

Encoded RecurrentEncoderImpl::forward(const torch::Tensor& embedded, const torch::Tensor& lengths,
                                      ForwardContext& pass) {
  Encoded encoded{.states = {}, .lengths = lengths, .last = {}};
  auto x = embedded.transpose(0, 1);  // [source, batch, ...]: steps lie together
  for (size_t i = 0; i < layers_.size(); ++i) {
    auto output = layers_[i](i == 0 ? x : dropout(x, dropout_, pass), lengths);
    x = output.states;
    encoded.last.push_back(std::move(output.last));
  }
  encoded.states = x.transpose(0, 1).contiguous();
  return encoded;
}

}  // namespace nmt
