#include "convert/t5/t5_names.h"

#include <fmt/format.h>

#include "convert/plain/transformer_parts.h"

namespace nmt::convert {
namespace {

/// The weights of one of the two stacks; a block's sub-layers are counted.
void add_stack(const ModelConfig& config, bool is_decoder, std::vector<T5Weight>& weights) {
  const char* side = is_decoder ? "decoder" : "encoder";
  const int64_t blocks = is_decoder ? decoder_blocks(config) : encoder_blocks(config);
  for (int64_t block = 0; block < blocks; ++block) {
    int64_t layer = 0;
    const auto ours = [&](const std::string& name) { return fmt::format("{}_{}.{}", side, block, name); };
    const auto theirs = [&](const std::string& name) {
      return fmt::format("{}.block.{}.layer.{}.{}.weight", side, block, layer, name);
    };
    const auto add = [&](const std::string& our_name, const std::string& their_name, T5Role role = T5Role::kPlain) {
      weights.push_back({ours(our_name + ".weight"), theirs(their_name), role});
    };
    const auto add_attention = [&](const std::string& our_name, const std::string& their_name, T5Role query) {
      add(our_name + ".query", their_name + ".q", query);
      add(our_name + ".key", their_name + ".k", T5Role::kHeads);
      add(our_name + ".value", their_name + ".v", T5Role::kHeads);
      add(our_name + ".output", their_name + ".o", T5Role::kHeadsIn);
      add(our_name + "_norm", "layer_norm");
    };
    add_attention("self_attention", "SelfAttention", T5Role::kHeads);
    if (block == 0) add("self_attention.positions", "SelfAttention.relative_attention_bias", T5Role::kBuckets);
    ++layer;
    if (is_decoder) {
      add_attention("cross_attention", "EncDecAttention", T5Role::kCrossQuery);
      ++layer;
    }
    const bool gated = is_gated(config.activation);
    add("feed_forward.inner", gated ? "DenseReluDense.wi_0" : "DenseReluDense.wi");
    if (gated) add("feed_forward.gated", "DenseReluDense.wi_1");
    add("feed_forward.outer", "DenseReluDense.wo");
    add("feed_forward_norm", "layer_norm");
  }
  weights.push_back({fmt::format("{}_norm.weight", side), fmt::format("{}.final_layer_norm.weight", side)});
}

}  // namespace

std::vector<T5Weight> t5_weights(const ModelConfig& config) {
  std::vector<T5Weight> weights;
  add_stack(config, false, weights);
  add_stack(config, true, weights);
  return weights;
}

}  // namespace nmt::convert
