#include "convert/plain/transformer_parts.h"

#include <fmt/format.h>

#include <cmath>

#include "base/error.h"

namespace nmt::convert {

std::string plain_transformer_obstacle(const ModelConfig& c) {
  const auto unless = []<typename Enum>(Choice<Enum> value, std::initializer_list<Enum> fine, const char* option) {
    for (const Enum allowed : fine)
      if (value == allowed) return std::string();
    return fmt::format("{}: {}", option, value.name());
  };
  for (const auto& obstacle :
       {unless(c.architecture, {Architecture::kTransformer}, "model.architecture"),
        unless(c.positions, {PositionKind::kSinusoidal, PositionKind::kLearned, PositionKind::kNone},
               "model.positions"),
        unless(c.deep_init, {DeepInitKind::kNone, DeepInitKind::kDepthScaled}, "model.deep_init"),
        unless(c.qkv_activation, {ProjectionActivation::kNone}, "model.qkv_activation"),
        unless(c.attention_score, {AttentionScoreKind::kScaledDot}, "model.attention_score"),
        unless(c.attention_normalization, {AttentionNormalization::kSoftmax}, "model.attention_normalization"),
        unless(c.decoder_mixer, {MixerKind::kAttention}, "model.decoder_mixer")})
    if (!obstacle.empty()) return obstacle;
  return "";
}

int64_t encoder_blocks(const ModelConfig& config) { return config.encoder_blocks.value_or(config.num_blocks); }
int64_t decoder_blocks(const ModelConfig& config) { return config.decoder_blocks.value_or(config.num_blocks); }

// As nn/positions/sinusoid.cpp, which is on the other side of torch.
Array sinusoids(Sinusoid form, int64_t count, int64_t model) {
  const int64_t half = (model + 1) / 2;
  const bool halves = form == Sinusoid::kHalfSplit || form == Sinusoid::kHalfSplitT2t;
  const auto exponent = [&](int64_t k) {
    const double size = static_cast<double>(model);
    switch (form) {
      case Sinusoid::kInterleaved:
        return 2.0 * static_cast<double>(k / 2) / size;
      case Sinusoid::kHalfSplit:
        return 2.0 * static_cast<double>(k % half) / size;
      case Sinusoid::kHalfSplitT2t:
        return static_cast<double>(k % half) / static_cast<double>(std::max<int64_t>(half - 1, 1));
      case Sinusoid::kDoubled:
        return 4.0 * static_cast<double>(k / 2) / size;
      case Sinusoid::kLegacyRaw:
        return 2.0 * static_cast<double>(k) / size;
    }
    return 0.0;
  };
  Array table = zeros({count, model});
  for (int64_t k = 0; k < model; ++k) {
    const bool sine = halves ? k < half : k % 2 == 0;
    const double period = std::pow(10000.0, exponent(k));
    for (int64_t row = 0; row < count; ++row) {
      const double angle = static_cast<double>(row) / period;
      table.values[row * model + k] = static_cast<float>(sine ? std::sin(angle) : std::cos(angle));
    }
  }
  return table;
}

Array repeat_heads(const Array& weight, const ModelConfig& c) {
  if (c.key_value_heads == 0 || c.key_value_heads == c.num_heads) return weight;
  const int64_t size = c.d_model / c.num_heads, group = c.num_heads / c.key_value_heads;
  std::vector<int64_t> rows;
  for (int64_t head = 0; head < c.num_heads; ++head)
    for (int64_t i = 0; i < size; ++i) rows.push_back(head / group * size + i);
  return pick_rows(weight, rows);
}

std::vector<std::string> pieces(const Tokenizer& tokenizer) {
  std::vector<std::string> all;
  for (int32_t id = 0; id < tokenizer.size(); ++id) all.push_back(tokenizer.piece(id));
  return all;
}

}  // namespace nmt::convert
