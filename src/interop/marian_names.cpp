#include "interop/marian_names.h"

#include <fmt/format.h>

#include "interop/transformer_parts.h"

namespace nmt::interop {

std::vector<std::pair<std::string, std::string>> marian_block_names(const ModelConfig& config) {
  std::vector<std::pair<std::string, std::string>> names;
  const auto add = [&](const std::string& ours, const std::string& theirs) {
    for (const char* part : {".weight", ".bias"}) names.emplace_back(ours + part, theirs + part);
  };
  const auto add_attention = [&](const std::string& ours, const std::string& theirs) {
    add(ours + ".query", theirs + ".q_proj");
    add(ours + ".key", theirs + ".k_proj");
    add(ours + ".value", theirs + ".v_proj");
    add(ours + ".output", theirs + ".out_proj");
    add(ours + "_norm", theirs + "_layer_norm");
  };
  const auto add_stack = [&](const std::string& side, int64_t blocks) {
    for (int64_t i = 0; i < blocks; ++i) {
      const auto ours = fmt::format("{}_{}.", side, i), theirs = fmt::format("model.{}.layers.{}.", side, i);
      add_attention(ours + "self_attention", theirs + "self_attn");
      if (side == "decoder") add_attention(ours + "cross_attention", theirs + "encoder_attn");
      add(ours + "feed_forward.inner", theirs + "fc1");
      add(ours + "feed_forward.outer", theirs + "fc2");
      add(ours + "feed_forward_norm", theirs + "final_layer_norm");
    }
  };
  add_stack("encoder", encoder_blocks(config));
  add_stack("decoder", decoder_blocks(config));
  return names;
}

}  // namespace nmt::interop
