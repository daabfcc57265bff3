#pragma once

#include <map>
#include <string>

#include "models/formula_weights.h"

namespace nmt::test {

/// Every cell, score, order, readout and first state in at least one of them.
inline const std::map<std::string, std::string>& recurrent_forms() {
  static const std::map<std::string, std::string> kForms = {
      {"bahdanau",
       "d_model: 12, embedding_size: 10, encoder_size: 8, attention_size: 9, attention_score: additive, initial_state: "
       "backward, readout: maxout, readout_size: 7, tie_embeddings: none, output_bias: true"},
      {"previous",
       "d_model: 12, embedding_size: 10, encoder_size: 8, num_blocks: 2, attention_score: additive, readout: maxout, "
       "readout_size: 7, readout_state: previous, tie_embeddings: none"},
      {"luong",
       "cell: lstm, d_model: 12, num_blocks: 3, bidirectional: false, decoder_order: luong, attention_score: general, "
       "initial_state: copy, readout: tanh, tie_embeddings: all"},
      {"coverage",
       "d_model: 12, embedding_size: 10, num_blocks: 2, attention_score: additive, coverage: true, readout: tanh, "
       "readout_size: 10, tie_embeddings: target"},
      {"cosine",
       "cell: elman, d_model: 20, encoder_size: 10, attention_score: cosine, attention_normalization: none, "
       "decoder_order: luong, input_feeding: false, initial_state: mean, tie_embeddings: none"},
      {"local",
       "d_model: 12, decoder_order: luong, attention_score: local, local_window: 2, initial_state: zero, readout: "
       "tanh, "
       "attention_size: 5, tie_embeddings: target"},
      {"local_additive",
       "d_model: 12, attention_score: additive, coverage: true, attention_window: predictive, local_window: 3, "
       "attention_size: 5, tie_embeddings: none"},
      {"local_cosine",
       "d_model: 12, encoder_size: 6, decoder_order: luong, attention_score: cosine, attention_normalization: none, "
       "attention_window: predictive, local_window: 3, readout: tanh, tie_embeddings: none"},
      {"monotonic",
       "cell: lstm, d_model: 12, decoder_order: luong, attention_score: general, attention_window: monotonic, "
       "local_window: 2, readout: tanh, tie_embeddings: target"},
      {"monotonic_dot",
       "d_model: 12, encoder_size: 6, attention_score: dot, attention_normalization: none, attention_window: "
       "monotonic, local_window: 1, tie_embeddings: none"},
      {"scaled_cosine", "d_model: 12, encoder_size: 6, attention_score: scaled_cosine, tie_embeddings: none"},
      {"location", "d_model: 12, attention_score: location, max_positions: 20, tie_embeddings: none"},
      {"dot",
       "cell: lstm, d_model: 12, encoder_size: 6, attention_score: dot, decoder_order: luong, tie_embeddings: none"},
      {"scaled", "cell: lstm, d_model: 12, encoder_size: 6, attention_score: scaled_dot, tie_embeddings: none"},
      {"plain", "d_model: 12, attention_score: none, tie_embeddings: none, encoder_blocks: 2, decoder_blocks: 1"},
      {"plain_luong", "d_model: 12, attention_score: none, decoder_order: luong, readout: tanh, tie_embeddings: none"},
  };
  return kForms;
}

/// One of them. num_blocks is 1 where a form does not say more: a key may stand once only.
inline ModelConfig recurrent_form(const std::string& name) {
  const auto& options = recurrent_forms().at(name);
  const bool depth = options.find("blocks") != std::string::npos;
  return model_config("architecture: recurrent, dropout_rate: 0.2, " + options + (depth ? "" : ", num_blocks: 1"));
}

}  // namespace nmt::test
