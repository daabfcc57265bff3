#include "convert/marian/marian_names.h"

#include <fmt/format.h>

#include <functional>

#include "convert/plain/transformer_parts.h"

namespace nmt::convert {
namespace {

struct Part {
  const char *ours, *hugging_face, *marian_weight, *marian_bias;
};

constexpr Part kSelfAttention[] = {
    {"self_attention.query", "self_attn.q_proj", "self_Wq", "self_bq"},
    {"self_attention.key", "self_attn.k_proj", "self_Wk", "self_bk"},
    {"self_attention.value", "self_attn.v_proj", "self_Wv", "self_bv"},
    {"self_attention.output", "self_attn.out_proj", "self_Wo", "self_bo"},
    {"self_attention_norm", "self_attn_layer_norm", "self_Wo_ln_scale", "self_Wo_ln_bias"}};
constexpr Part kCrossAttention[] = {
    {"cross_attention.query", "encoder_attn.q_proj", "context_Wq", "context_bq"},
    {"cross_attention.key", "encoder_attn.k_proj", "context_Wk", "context_bk"},
    {"cross_attention.value", "encoder_attn.v_proj", "context_Wv", "context_bv"},
    {"cross_attention.output", "encoder_attn.out_proj", "context_Wo", "context_bo"},
    {"cross_attention_norm", "encoder_attn_layer_norm", "context_Wo_ln_scale", "context_Wo_ln_bias"}};
constexpr Part kFeedForward[] = {{"feed_forward.inner", "fc1", "ffn_W1", "ffn_b1"},
                                 {"feed_forward.outer", "fc2", "ffn_W2", "ffn_b2"},
                                 {"feed_forward_norm", "final_layer_norm", "ffn_ffn_ln_scale", "ffn_ffn_ln_bias"}};

/// Every part of every block, in order.
void for_each_part(const ModelConfig& config,
                   const std::function<void(const char* side, int64_t block, const Part& part)>& body) {
  const auto visit = [&](const char* side, int64_t blocks, bool is_decoder) {
    for (int64_t i = 0; i < blocks; ++i) {
      for (const auto& part : kSelfAttention) body(side, i, part);
      if (is_decoder)
        for (const auto& part : kCrossAttention) body(side, i, part);
      for (const auto& part : kFeedForward) body(side, i, part);
    }
  };
  visit("encoder", encoder_blocks(config), false);
  visit("decoder", decoder_blocks(config), true);
}

}  // namespace

std::vector<std::pair<std::string, std::string>> marian_block_names(const ModelConfig& config) {
  std::vector<std::pair<std::string, std::string>> names;
  for_each_part(config, [&](const char* side, int64_t block, const Part& part) {
    for (const char* kind : {"weight", "bias"})
      names.emplace_back(fmt::format("{}_{}.{}.{}", side, block, part.ours, kind),
                         fmt::format("model.{}.layers.{}.{}.{}", side, block, part.hugging_face, kind));
  });
  return names;
}

std::vector<std::pair<std::string, std::string>> marian_npz_block_names(const ModelConfig& config) {
  std::vector<std::pair<std::string, std::string>> names;
  for_each_part(config, [&](const char* side, int64_t block, const Part& part) {
    const auto ours = fmt::format("{}_{}.{}.", side, block, part.ours);
    const auto theirs = fmt::format("{}_l{}_", side, block + 1);
    names.emplace_back(ours + "weight", theirs + part.marian_weight);
    names.emplace_back(ours + "bias", theirs + part.marian_bias);
  });
  return names;
}

}  // namespace nmt::convert
