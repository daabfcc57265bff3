#pragma once

#include <map>
#include <string>
#include <vector>

#include "models/formula_weights.h"

namespace nmt::test {

inline std::map<std::string, ModelConfig> named_transformer_forms() {
  return {
      {"vaswani", model_config("d_model: 24, d_ff: 40, num_blocks: 2, num_heads: 3, dropout_rate: 0.1")},
      {"kyubyong", model_config("d_model: 16, d_ff: 32, num_blocks: 2, num_heads: 2, norm_epsilon: 1e-8, "
                                "mask_padding_positions: true, attention_output_projection: false")},
      {"pre_norm", model_config("d_model: 16, d_ff: 24, encoder_blocks: 2, decoder_blocks: 3, num_heads: 4, norm: pre, "
                                "activation: gelu, positions: learned, max_positions: 40, tie_embeddings: none, "
                                "output_bias: true, zero_padding_embedding: false")},
      {"bare", model_config("d_model: 16, d_ff: 24, num_blocks: 1, num_heads: 1, norm: pre, final_norm: false, "
                            "activation: swish, positions: none, attention_bias: false, qkv_activation: relu, "
                            "tie_embeddings: target")},
      {"half_split", model_config("d_model: 16, d_ff: 24, num_blocks: 1, num_heads: 2, sinusoid: half_split")},
      {"grouped", model_config("d_model: 24, d_ff: 24, num_blocks: 2, num_heads: 6, key_value_heads: 2, "
                               "positions: rotary, norm: pre, norm_form: rms, activation: swiglu")},
      {"multi_query", model_config("d_model: 16, d_ff: 24, num_blocks: 1, num_heads: 4, key_value_heads: 1, "
                                   "positions: shaw, activation: geglu")},
      {"cosine", model_config("d_model: 16, d_ff: 24, num_blocks: 1, num_heads: 2, attention_score: cosine, "
                              "attention_normalization: none")},
      {"scaled_cosine",
       model_config("d_model: 16, d_ff: 24, num_blocks: 1, num_heads: 2, attention_score: scaled_cosine")},
      {"dot", model_config("d_model: 16, d_ff: 24, num_blocks: 1, num_heads: 2, attention_score: dot")},
      {"general", model_config("d_model: 16, d_ff: 24, num_blocks: 1, num_heads: 2, attention_score: general")},
      {"additive", model_config("d_model: 16, d_ff: 24, num_blocks: 1, num_heads: 4, key_value_heads: 2, "
                                "attention_score: additive")},
      {"product_plain", model_config("d_model: 16, d_ff: 24, num_blocks: 2, num_heads: 2, max_positions: 40, "
                                     "positions: product, product_form: plain, position_init: standard_normal")},
      {"average", model_config("d_model: 16, d_ff: 24, num_blocks: 2, num_heads: 2, decoder_mixer: average")},
      {"ssru", model_config("d_model: 16, d_ff: 24, num_blocks: 2, num_heads: 2, decoder_mixer: ssru")},
  };
}

/// The kinds of positions that no form above has as its point.
inline const std::vector<std::string> kPositionsOfForms = {"hierarchical", "product", "recurrent", "convolution",
                                                           "complex",      "shaw",    "t5",        "transformer_xl",
                                                           "deberta",      "rotary",  "alibi"};

/// Every option of the Transformer in at least one of them.
inline const std::map<std::string, ModelConfig>& transformer_forms() {
  static const auto kForms = [] {
    auto forms = named_transformer_forms();
    for (const auto& kind : kPositionsOfForms)
      forms[kind] = model_config(
          "d_model: 16, d_ff: 24, num_blocks: 2, num_heads: 2, max_positions: 40, max_relative_distance: 6, "
          "relative_buckets: 8, mask_padding_positions: true, positions: " +
          kind);
    return forms;
  }();
  return kForms;
}

}  // namespace nmt::test
