#include "training/memory/transformer_activations.h"

#include <fmt/format.h>

#include <algorithm>

#include "nn/ops/activation.h"

namespace nmt {
namespace {

/// Sizes of one block, in elements.
struct Sizes {
  int64_t tokens = 0, other_tokens = 0;  // of this side, of the source that cross-attention reads
  int64_t rows = 0, width = 0, other_width = 0;
  int64_t model = 0, inner = 0, key = 0, heads = 0;
};

class Blocks {
 public:
  Blocks(const Config& config, const ComputePlace& place) : c_(config.model), place_(place) {}

  /// Self-attention of a sequence, or attention to another one.
  void attention(TensorSum& kept, const Sizes& s, bool cross) const {
    const int64_t keys = cross ? s.other_tokens : s.tokens;
    const int64_t projected = s.tokens * s.model;
    const bool plain = is_plain(cross);
    if (cross)
      kept.add(projected).add(keys * 2 * s.key);
    else
      kept.add(s.tokens * (s.model + 2 * s.key));
    if (!cross && c_.positions == PositionKind::kRotary) kept.add(projected).add(s.tokens * s.key);
    const int64_t grid = s.rows * s.heads * s.width * (cross ? s.other_width : s.width);
    if (plain) {
      // Heads side by side for the products, probabilities, and these again after dropout.
      kept.add(projected).add(keys * s.model, 2).add(grid, drops(c_.attention_dropout_rate) ? 2 : 1);
      if (!cross) kept.add(grid * relative_grids());
    } else {
      kept.add(s.rows * s.heads * s.width, 1, kFloatBytes);  // sums of the softmax
    }
    kept.add(projected);  // the context
    if (!place_.host) {
      kept.add(projected);  // of the real tokens, and put back in its place
      if (plain) mask(kept, grid, c_.attention_dropout_rate);
    }
    copies_of_weights(kept, 2 * s.model * s.model + 2 * s.model * s.key, cross ? 2 * s.model * s.key : 0,
                      s.model * (s.model + 2 * s.key));
  }

  void feed_forward(TensorSum& kept, const Sizes& s) const {
    const int64_t inner = s.tokens * s.inner;
    const bool gated = is_gated(c_.activation), relu = c_.activation == FeedForwardActivation::kRelu;
    if (relu && place_.host)
      kept.add(inner);
    else
      kept.add(inner, (relu ? 1 : 2) + (gated ? 2 : 0) + (relu && drops(c_.ffn_dropout_rate) ? 1 : 0));
    if (!place_.host) mask(kept, inner, c_.ffn_dropout_rate);
    copies_of_weights(kept, (gated ? 3 : 2) * s.model * s.inner, 0, 0);
  }

  /// The decoder's mixer in place of self-attention.
  void mixer(TensorSum& kept, const Sizes& s) const {
    const int64_t x = s.tokens * s.model;
    switch (c_.decoder_mixer) {
      case MixerKind::kAttention:
        return attention(kept, s, false);
      case MixerKind::kAverage:
        kept.add(x);  // means
        feed_forward(kept, s);
        kept.add(x).add(2 * x, 2);  // g, [x; g], gates
        return;
      case MixerKind::kSsru:
        kept.add(x, 4, kFloatBytes);  // f, z, c, the result
        if (place_.bytes < kFloatBytes) kept.add(x);
        return;
    }
  }

  /// What a sub-layer keeps around its body: its input, before or after the norm, and the norm's statistics.
  void around(TensorSum& kept, const Sizes& s) const {
    const int64_t x = s.tokens * s.model;
    kept.add(x, 2).add(s.tokens, 2, kFloatBytes);
    if (c_.norm_form != NormForm::kLayer) kept.add(x, place_.bytes < kFloatBytes ? 3 : 1, kFloatBytes);
    if (!place_.host) mask(kept, x, c_.residual_dropout_rate);
  }

  int64_t backward(const Sizes& s) const {
    const int64_t x = s.tokens * s.model;
    const int64_t feed_forward = TensorSum(place_).add(s.tokens * s.inner, 2).add(x, 4).bytes();
    const bool plain = is_plain(false);
    const int64_t attention = TensorSum(place_)
                                  .add(s.tokens * (s.model + 2 * s.key), 2)
                                  .add(x, 4)
                                  .add(plain ? s.rows * s.heads * s.width * std::max(s.width, s.other_width) : 0, 3)
                                  .bytes();
    return std::max(feed_forward, attention);
  }

 private:
  bool drops(const std::optional<double>& rate) const { return rate.value_or(c_.dropout_rate) > 0; }
  void mask(TensorSum& kept, int64_t elements, const std::optional<double>& rate) const {
    if (drops(rate)) kept.add(elements, 1, 1);
  }
  bool is_plain(bool cross) const {
    if (c_.attention_normalization != AttentionNormalization::kSoftmax ||
        c_.attention_score != AttentionScoreKind::kScaledDot)
      return true;
    // has_packed_attention() says why.
    if (!place_.host && place_.bytes == kFloatBytes && drops(c_.attention_dropout_rate)) return true;
    return !cross && relative_grids() > 0;
  }
  /// How many more grids [heads, target, source] relative positions keep.
  int64_t relative_grids() const {
    switch (c_.positions) {
      case PositionKind::kShaw:
      case PositionKind::kT5:
      case PositionKind::kAlibi:
        return 1;
      case PositionKind::kTransformerXl:
        return 2;
      case PositionKind::kDeberta:
        return 3;
      default:
        return 0;
    }
  }
  // Products of LibTorch keep weights in the type of the activations; several of one x, also side by side.
  void copies_of_weights(TensorSum& kept, int64_t all, int64_t pair, int64_t triple) const {
    if (place_.packs_weights) return;
    if (place_.bytes < kFloatBytes)
      kept.add(all);
    else
      kept.add(pair > 0 ? pair : triple);
  }

  const ModelConfig& c_;
  const ComputePlace& place_;
};

}  // namespace

std::vector<PartActivations> transformer_activations(const Config& config, const BatchShape& batch,
                                                     const ComputePlace& place) {
  const ModelConfig& c = config.model;
  const Blocks blocks(config, place);
  Sizes source{.tokens = batch.rows * batch.source,
               .other_tokens = 0,
               .rows = batch.rows,
               .width = batch.source,
               .other_width = 0,
               .model = c.d_model,
               .inner = c.d_ff,
               .key = c.d_model / c.num_heads * (c.key_value_heads > 0 ? c.key_value_heads : c.num_heads),
               .heads = c.num_heads};
  Sizes target = source;
  target.tokens = batch.rows * batch.target, target.width = batch.target;
  target.other_tokens = source.tokens, target.other_width = source.width;
  const bool checkpointing = config.training.gradient_checkpointing;
  const int64_t checkpointed_blocks = config.training.checkpointed_blocks;

  std::vector<PartActivations> parts;
  const auto tensor = [&](int64_t elements) { return TensorSum(place).add(elements).bytes(); };
  const auto add_block = [&](const char* side, int64_t number, const TensorSum& kept, const Sizes& sizes) {
    const int64_t input = tensor(sizes.tokens * sizes.model);
    PartActivations part{.name = fmt::format("{}_{}.", side, number),
                         .kept = kept.bytes(),
                         .forward = 0,
                         .backward = blocks.backward(sizes),
                         .late = 0};
    part.forward = tensor(sizes.tokens * sizes.inner);
    if (checkpointing && (checkpointed_blocks == 0 || number < checkpointed_blocks)) {
      part.forward += part.kept - input;
      part.backward += part.kept;
      part.kept = input;
    }
    parts.push_back(std::move(part));
  };
  const auto add_input = [&](const char* name, const Sizes& sizes) {
    TensorSum kept(place);
    if (!place.host) kept.add(sizes.tokens * sizes.model, 1, 1);
    parts.push_back({.name = name,
                     .kept = kept.bytes(),
                     .forward = TensorSum(place).add(sizes.tokens * sizes.model, 2, kFloatBytes).bytes(),
                     .backward = TensorSum(place).add(sizes.tokens * sizes.model, 2, kFloatBytes).bytes(),
                     .late = 0});
  };

  add_input("source_input", source);
  for (int64_t i = 0; i < c.encoder_blocks.value_or(c.num_blocks); ++i) {
    TensorSum kept(place);
    blocks.around(kept, source);
    blocks.attention(kept, source, false);
    blocks.around(kept, source);
    blocks.feed_forward(kept, source);
    add_block("encoder", i, kept, source);
  }
  parts.push_back({.name = "encoder_norm.", .kept = tensor(source.tokens * source.model)});
  add_input("target_input", target);
  for (int64_t i = 0; i < c.decoder_blocks.value_or(c.num_blocks); ++i) {
    TensorSum kept(place);
    blocks.around(kept, target);
    blocks.mixer(kept, target);
    blocks.around(kept, target);
    blocks.attention(kept, target, true);
    blocks.around(kept, target);
    blocks.feed_forward(kept, target);
    add_block("decoder", i, kept, target);
  }
  parts.push_back({.name = "decoder_norm.", .kept = tensor(target.tokens * target.model)});
  return parts;
}

}  // namespace nmt
