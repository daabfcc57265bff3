#include "nn/inference/read_transformer.h"

#include <fmt/format.h>

#include <string>

#include "config/deep_init.h"
#include "nn/inference/weight_reader.h"

namespace nmt::inference {
namespace {

void check_supported(const ModelConfig& c) {
  if (c.architecture != Architecture::kTransformer) throw Unsupported("a model that is no Transformer");
  if (c.attention_normalization != AttentionNormalization::kSoftmax) throw Unsupported("attention without softmax");
  if (c.attention_score != AttentionScoreKind::kScaledDot)
    throw Unsupported("attention scores other than scaled dot products");
  switch (c.positions) {
    case PositionKind::kNone:
    case PositionKind::kSinusoidal:
    case PositionKind::kLearned:
    case PositionKind::kRotary:
      return;
    default:
      throw Unsupported("positions that are neither added vectors nor rotary");
  }
}

/// Parts of a Transformer by the names of their parameters.
class Parts {
 public:
  Parts(const ModelConfig& config, WeightReader& file) : c_(config), file_(file) {}

  MapTensors linear(const std::string& name, int64_t out, int64_t in, bool bias = true) const {
    return {.weight = name + ".weight", .bias = bias ? name + ".bias" : "", .out = out, .in = in};
  }

  NormWeights norm(const std::string& name) const {
    return {.weight = file_.copy(name + ".weight", {c_.d_model}),
            .bias = c_.norm_form == NormForm::kLayer ? file_.copy(name + ".bias", {c_.d_model}) : nullptr,
            .epsilon = static_cast<float>(c_.norm_epsilon)};
  }

  FeedForwardWeights feed_forward(const std::string& name) const {
    FeedForwardWeights weights{.activation = activation_of(c_.activation)};
    weights.inner = file_.pack({linear(name + ".inner", c_.d_ff, c_.d_model)});
    if (is_gated(c_.activation)) weights.gate = file_.pack({linear(name + ".gated", c_.d_ff, c_.d_model)});
    weights.outer = file_.pack({linear(name + ".outer", c_.d_model, c_.d_ff)});
    return weights;
  }

  AttentionWeights self_attention(const std::string& name, const std::shared_ptr<PositionRows>& rotation) const {
    auto weights = attention(name);
    weights.together = file_.pack({query(name), key(name, weights), value(name, weights)});
    weights.rotation = rotation;
    return weights;
  }

  AttentionWeights cross_attention(const std::string& name) const {
    auto weights = attention(name);
    weights.query = file_.pack({query(name)});
    weights.together = file_.pack({key(name, weights), value(name, weights)});
    return weights;
  }

  MixerWeights average(const std::string& name) const {
    return AverageWeights{.feed_forward = feed_forward(name + ".feed_forward"),
                          .gate = file_.pack({linear(name + ".gate", 2 * c_.d_model, 2 * c_.d_model)})};
  }

  MixerWeights ssru(const std::string& name) const {
    return SsruWeights{.forget = file_.pack({linear(name + ".forget", c_.d_model, c_.d_model)}),
                       .input = file_.pack({linear(name + ".input", c_.d_model, c_.d_model, /*bias=*/false)})};
  }

  /// Blocks without what comes before their feed-forward nets.
  BlockWeights block(const std::string& name, Stack stack) const {
    return {.pre_norm = c_.norm == Norm::kPre,
            .residual_weight = static_cast<float>(DeepInit(c_, stack).residual_weight()),
            .feed_forward = feed_forward(name + ".feed_forward"),
            .feed_forward_norm = norm(name + ".feed_forward_norm")};
  }

  std::shared_ptr<PositionRows> positions(const std::string& name) const {
    if (c_.positions == PositionKind::kSinusoidal) return std::make_shared<SinusoidTable>(c_.d_model, c_.sinusoid);
    if (c_.positions != PositionKind::kLearned) return nullptr;
    const PositionTable all{.rows = file_.copy(name + ".weight", {c_.max_positions, c_.d_model}),
                            .count = c_.max_positions};
    return std::make_shared<TrainedTable>(all, "learned");
  }

 private:
  MapTensors query(const std::string& name) const {
    return linear(name + ".query", c_.d_model, c_.d_model, c_.attention_bias);
  }
  MapTensors key(const std::string& name, const AttentionWeights& weights) const {
    return linear(name + ".key", weights.key_size(), c_.d_model, c_.attention_bias);
  }
  MapTensors value(const std::string& name, const AttentionWeights& weights) const {
    return linear(name + ".value", weights.key_size(), c_.d_model, c_.attention_bias);
  }

  AttentionWeights attention(const std::string& name) const {
    AttentionWeights weights{
        .heads = c_.num_heads,
        .key_value_heads = c_.key_value_heads > 0 ? c_.key_value_heads : c_.num_heads,
        .head_dim = c_.d_model / c_.num_heads,
        .activation = activation_of(c_.qkv_activation),
        .kept = file_.format() == kernels::WeightFormat::kFloat32 ? kernels::Type::kFloat : kernels::Type::kBfloat16};
    if (c_.attention_output_projection)
      weights.output = file_.pack({linear(name + ".output", c_.d_model, c_.d_model, c_.attention_bias)});
    return weights;
  }

  const ModelConfig& c_;
  WeightReader& file_;
};

/// The stacks without their tables of embeddings.
void read_stacks(const ModelConfig& c, const Parts& parts, TransformerWeights& weights) {
  const auto rotation = c.positions == PositionKind::kRotary
                            ? std::make_shared<SinusoidTable>(c.d_model / c.num_heads, Sinusoid::kInterleaved)
                            : nullptr;
  for (int64_t i = 0; i < c.encoder_blocks.value_or(c.num_blocks); ++i) {
    const auto name = fmt::format("encoder_{}", i);
    auto& block = weights.encoder.blocks.emplace_back(parts.block(name, Stack::kEncoder));
    block.mixer = parts.self_attention(name + ".self_attention", rotation);
    block.mixer_norm = parts.norm(name + ".self_attention_norm");
  }
  for (int64_t i = 0; i < c.decoder_blocks.value_or(c.num_blocks); ++i) {
    const auto name = fmt::format("decoder_{}", i);
    auto& block = weights.decoder.blocks.emplace_back(parts.block(name, Stack::kDecoder));
    const auto mixer = name + (c.decoder_mixer == MixerKind::kAttention ? ".self_attention" : ".mixer");
    switch (c.decoder_mixer) {
      case MixerKind::kAttention:
        block.mixer = parts.self_attention(mixer, rotation);
        break;
      case MixerKind::kAverage:
        block.mixer = parts.average(mixer);
        break;
      case MixerKind::kSsru:
        block.mixer = parts.ssru(mixer);
        break;
    }
    block.mixer_norm = parts.norm(mixer + "_norm");
    block.cross_attention = parts.cross_attention(name + ".cross_attention");
    block.cross_attention_norm = parts.norm(name + ".cross_attention_norm");
  }
  if (c.norm == Norm::kPre && c.final_norm) {
    weights.encoder.norm = parts.norm("encoder_norm");
    weights.decoder.norm = parts.norm("decoder_norm");
  }
  weights.encoder.input.positions = parts.positions("source_positions");
  weights.decoder.input.positions = parts.positions("target_positions");
}

/// Tables of embeddings, and the output layer, which may be one of them.
void read_tables(const ModelConfig& c, const ModelDescription& sizes, WeightReader& file, TransformerWeights& weights) {
  const bool all = c.tie_embeddings == TiedEmbeddings::kAll, own = c.tie_embeddings == TiedEmbeddings::kNone;
  const std::string source = all ? "embedding" : "source_embedding", target = all ? "embedding" : "target_embedding";
  weights.output = file.pack({{.weight = own ? "output_weight" : target,
                               .bias = c.output_bias ? "output_bias" : "",
                               .out = sizes.target_vocabulary,
                               .in = c.d_model}});
  const auto read = [&](EmbeddingWeights& input, const std::string& name, int64_t vocabulary, bool is_output) {
    input.vocabulary = vocabulary;
    if (file.format() == kernels::WeightFormat::kFloat32)
      input.table = file.map(name, {vocabulary, c.d_model});
    else
      input.packed = is_output ? weights.output : file.pack({{.weight = name, .out = vocabulary, .in = c.d_model}});
  };
  read(weights.encoder.input, source, sizes.source_vocabulary, all);
  read(weights.decoder.input, target, sizes.target_vocabulary, !own);
}

}  // namespace

std::shared_ptr<const TransformerWeights> read_transformer(const std::filesystem::path& directory,
                                                           const ModelDescription& description,
                                                           kernels::WeightFormat format, ThreadPool* threads,
                                                           const std::filesystem::path& adapter) {
  const auto& config = description.config.model;
  check_supported(config);
  WeightReader file(directory / "model.safetensors", description.weights, format, threads);
  if (!adapter.empty()) file.add(adapter_of(directory, adapter));
  struct Owned {
    TransformerWeights weights;
    std::shared_ptr<const void> memory = nullptr;  // of what is in no map
  };
  const auto owned = std::make_shared<Owned>();
  owned->weights.model = config.d_model;
  read_tables(config, description, file, owned->weights);
  read_stacks(config, Parts(config, file), owned->weights);
  owned->memory = file.finish();
  return {owned, &owned->weights};
}

}  // namespace nmt::inference
