#include "convert/plain/model_weights.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "config/loading/schema.h"
#include "config/option_listing.h"
#include "config/sinusoid_values.h"
#include "convert/formats/array.h"

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

Array sinusoids(Sinusoid form, int64_t count, int64_t model) {
  return {.shape = {count, model}, .values = sinusoid_values(form, 0, count, model)};
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

namespace {

/// Whether transformer_weights() are those of such a model.
bool has_known_weights(ModelConfig config) {
  if (config.positions == PositionKind::kT5) config.positions = PositionKind::kNone;
  return plain_transformer_obstacle(config).empty();
}

void check_names_and_shapes(const PlainModel& model) {
  const auto shapes = transformer_weights(model.config.model, model.codec.source().size(), model.codec.target().size());
  for (const auto& [name, shape] : shapes) {
    const Array& found = model.weight(name);
    if (found.shape != shape)
      throw Error(fmt::format("{}: tensor {} is {}, the configuration needs {}", model.name, name, to_text(found.shape),
                              to_text(shape)));
  }
  for (const auto& [name, array] : model.weights)
    if (!shapes.contains(name))
      throw Error(fmt::format("{}: tensor {} belongs to no part of this model", model.name, name));
}

}  // namespace

std::map<std::string, Shape> transformer_weights(const ModelConfig& c, int64_t source_vocabulary,
                                                 int64_t target_vocabulary) {
  std::map<std::string, Shape> shapes;
  const int64_t shared = c.key_value_heads > 0 ? c.d_model / c.num_heads * c.key_value_heads : c.d_model;
  const auto linear = [&](const std::string& name, int64_t out, int64_t in, bool bias) {
    shapes[name + ".weight"] = {out, in};
    if (bias) shapes[name + ".bias"] = {out};
  };
  const auto norm = [&](const std::string& name) {
    shapes[name + ".weight"] = {c.d_model};
    if (c.norm_form == NormForm::kLayer) shapes[name + ".bias"] = {c.d_model};
  };
  const auto attention = [&](const std::string& name) {
    linear(name + ".query", c.d_model, c.d_model, c.attention_bias);
    linear(name + ".key", shared, c.d_model, c.attention_bias);
    linear(name + ".value", shared, c.d_model, c.attention_bias);
    if (c.attention_output_projection) linear(name + ".output", c.d_model, c.d_model, c.attention_bias);
    norm(name + "_norm");
  };
  const auto block = [&](const std::string& name, bool decoder) {
    attention(name + ".self_attention");
    if (decoder) attention(name + ".cross_attention");
    linear(name + ".feed_forward.inner", c.d_ff, c.d_model, true);
    if (is_gated(c.activation)) linear(name + ".feed_forward.gated", c.d_ff, c.d_model, true);
    linear(name + ".feed_forward.outer", c.d_model, c.d_ff, true);
    norm(name + ".feed_forward_norm");
  };
  for (int64_t i = 0; i < encoder_blocks(c); ++i) block(fmt::format("encoder_{}", i), false);
  for (int64_t i = 0; i < decoder_blocks(c); ++i) block(fmt::format("decoder_{}", i), true);
  if (c.norm == Norm::kPre && c.final_norm) {
    norm("encoder_norm");
    norm("decoder_norm");
  }
  if (c.positions == PositionKind::kT5)  // of the first layer, for all of its stack
    for (const char* side : {"encoder", "decoder"})
      shapes[fmt::format("{}_0.self_attention.positions.weight", side)] = {c.relative_buckets, c.num_heads};
  if (c.positions == PositionKind::kLearned)
    shapes["source_positions.weight"] = shapes["target_positions.weight"] = {c.max_positions, c.d_model};
  if (c.tie_embeddings == TiedEmbeddings::kAll) {
    shapes["embedding"] = {source_vocabulary, c.d_model};
  } else {
    shapes["source_embedding"] = {source_vocabulary, c.d_model};
    shapes["target_embedding"] = {target_vocabulary, c.d_model};
    if (c.tie_embeddings == TiedEmbeddings::kNone) shapes["output_weight"] = {target_vocabulary, c.d_model};
  }
  if (c.output_bias) shapes["output_bias"] = {target_vocabulary};
  return shapes;
}

void check_weights(const PlainModel& model) {
  if (has_known_weights(model.config.model)) {
    check_names_and_shapes(model);
  } else if (const int64_t count = model.numbers(); model.parameters > 0 && count != model.parameters) {
    throw Error(
        fmt::format("{}: damaged: its weights have {} numbers, and model.json says {}; copy the directory again",
                    model.name, count, model.parameters));
  }
  for (const auto& [name, array] : model.weights) {
    throw_if_stopped();
    if (!std::ranges::all_of(array.values, [](float value) { return std::isfinite(value); }))
      throw Error(
          fmt::format("{}: tensor {} has numbers that are not finite: a training that failed; use another checkpoint",
                      model.name, name));
  }
}

void check_import(const PlainModel& model) {
  check_weights(model);
  parse_config(to_json(model.config).dump(), model.name + " as a model of this toolkit");
}

}  // namespace nmt::convert
