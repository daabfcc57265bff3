#include "models/search/search_weights.h"

#include <ATen/ATen.h>
#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <string>

#include "config/deep_init.h"
#include "config/sinusoid_values.h"
#include "models/transformer/transformer.h"
#include "nn/device/device.h"

namespace nmt {
namespace {

/// What DeviceSearch does not compute; null: nothing.
const char* unknown_part(const ModelConfig& c) {
  if (c.decoder_blocks.value_or(c.num_blocks) == 0) return "a decoder without blocks";
  if (c.positions != PositionKind::kSinusoidal && c.positions != PositionKind::kLearned) return "its positions";
  if (c.activation != FeedForwardActivation::kRelu) return "its activation";
  if (c.decoder_mixer != MixerKind::kAttention) return "its mixer";
  if (c.attention_score != AttentionScoreKind::kScaledDot ||
      c.attention_normalization != AttentionNormalization::kSoftmax)
    return "its attention score";
  if (!c.attention_output_projection || c.qkv_activation != ProjectionActivation::kNone ||
      (c.key_value_heads != 0 && c.key_value_heads != c.num_heads))
    return "its attention's projections";
  if (c.norm == Norm::kPre && !c.final_norm) return "no final norm";
  if (DeepInit(c, Stack::kDecoder).residual_weight() != 1) return "its residual weights";
  return nullptr;
}

class Weights {
 public:
  Weights(TranslationModel& model, const ModelConfig& config) : named_(model.named_parameters()), config_(config) {}

  SearchLayer layer(int64_t index) const {
    const auto prefix = fmt::format("decoder_{}.", index);
    const auto self = prefix + "self_attention.", source = prefix + "cross_attention.",
               feed_forward = prefix + "feed_forward.";
    return {.qkv = together({self + "query", self + "key", self + "value"}),
            .self_output = added(self + "output"),
            .query = product(source + "query"),
            .source_output = added(source + "output"),
            .inner = product(feed_forward + "inner"),
            .outer = added(feed_forward + "outer"),
            .after_self =
                norm(config_.norm == Norm::kPre ? prefix + "cross_attention_norm" : prefix + "self_attention_norm"),
            .after_source =
                norm(config_.norm == Norm::kPre ? prefix + "feed_forward_norm" : prefix + "cross_attention_norm"),
            .after_feed_forward = norm(config_.norm == Norm::kPost ? prefix + "feed_forward_norm" : next_norm(index))};
  }

  SearchProduct together(const std::vector<std::string>& names) const {
    std::vector<torch::Tensor> weights, biases;
    for (const auto& name : names) {
      const auto [weight, bias] = product(name);
      weights.push_back(weight);
      if (bias.defined()) biases.push_back(bias);
    }
    return {at::cat(weights), biases.empty() ? torch::Tensor() : at::cat(biases)};
  }

  SearchNorm norm(const std::string& name) const {
    const auto weight = named_[name + ".weight"].to(torch::kFloat32);
    const bool centred = config_.norm_form == NormForm::kLayer;
    const auto bias = centred ? named_[name + ".bias"].to(torch::kFloat32) : at::zeros_like(weight);
    return {weight, bias, config_.norm_epsilon, centred};
  }

  torch::Tensor position_rows(int64_t capacity, const torch::Tensor& table) const {
    if (config_.positions == PositionKind::kLearned) {
      const auto rows = named_["target_positions.weight"];
      return rows.narrow(0, 0, std::min(capacity, rows.size(0)));
    }
    const int64_t width = table.size(1);
    const auto values = torch::tensor(sinusoid_values(config_.sinusoid, 0, capacity, width)).view({capacity, width});
    return copy_to_device(values, table.device()).to(table.scalar_type());
  }

 private:
  SearchProduct product(const std::string& name) const {
    const auto* bias = named_.find(name + ".bias");
    return {named_[name + ".weight"], bias ? *bias : torch::Tensor()};
  }
  SearchProduct added(const std::string& name) const {
    auto [weight, bias] = product(name);
    if (!bias.defined()) bias = at::zeros({weight.size(0)}, weight.options());
    return {weight, bias.to(torch::kFloat32)};
  }
  std::string next_norm(int64_t index) const {
    const bool is_last = index + 1 == config_.decoder_blocks.value_or(config_.num_blocks);
    return is_last ? "decoder_norm" : fmt::format("decoder_{}.self_attention_norm", index + 1);
  }

  torch::OrderedDict<std::string, torch::Tensor> named_;
  const ModelConfig& config_;
};

}  // namespace

std::shared_ptr<const SearchWeights> search_weights(TranslationModel& model, int64_t capacity) {
  const auto* transformer = dynamic_cast<const Transformer*>(&model);
  const auto* config = transformer ? transformer->config() : nullptr;
  if (const char* reason = config ? unknown_part(*config) : "no Transformer of the options alone") {
    spdlog::debug("searches without kernels of its own: {}", reason);
    return nullptr;
  }
  const Weights named(model, *config);
  auto weights = std::make_shared<SearchWeights>();
  weights->table = transformer->target_embeddings();
  weights->width = weights->table.size(1);
  weights->heads = config->num_heads;
  weights->vocabulary = model.target_vocabulary();
  weights->pre_norm = config->norm == Norm::kPre;
  weights->positions = named.position_rows(capacity, weights->table);
  if (weights->pre_norm) weights->first = named.norm("decoder_0.self_attention_norm");
  std::vector<std::string> of_sources;
  for (int64_t i = 0; i < config->decoder_blocks.value_or(config->num_blocks); ++i) {
    weights->layers.push_back(named.layer(i));
    for (const char* part : {"key", "value"})
      of_sources.push_back(fmt::format("decoder_{}.cross_attention.{}", i, part));
  }
  weights->source_keys_and_values = named.together(of_sources);
  // Rows of logits begin at multiples of 16.
  const auto padded = [&](const torch::Tensor& x) {
    const int64_t missing = (16 - weights->vocabulary % 16) % 16;
    if (missing == 0 || !x.defined()) return x;
    auto sizes = x.sizes().vec();
    sizes[0] = missing;
    return at::cat({x, at::zeros(sizes, x.options())});
  };
  weights->output = {padded(model.output_weight()), padded(model.output_bias())};
  return weights;
}

}  // namespace nmt
