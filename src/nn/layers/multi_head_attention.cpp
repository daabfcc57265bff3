#include "nn/layers/multi_head_attention.h"

#include <limits>
#include <vector>

#include "nn/attention/attention.h"
#include "nn/decode/key_value_cache.h"
#include "nn/device/cpu_kernels.h"

namespace nmt {

MultiHeadAttentionImpl::MultiHeadAttentionImpl(const Options& options) : options_(options) {
  const auto bias = options.bias ? LinearImpl::Bias::kYes : LinearImpl::Bias::kNo;
  const int64_t model = options.model, shared = options.key_value_heads > 0 ? options.key_value_heads : options.heads;
  TORCH_CHECK(options.heads % shared == 0, "key_value_heads must divide heads");
  groups_ = options.heads / shared;
  query_ = register_module("query", Linear(model, model, bias));
  key_ = register_module("key", Linear(model, model / groups_, bias));
  value_ = register_module("value", Linear(model, model / groups_, bias));
  if (options.output_projection) output_ = register_module("output", Linear(model, model, bias));
  if (options.scores && options.owns_scores) register_module(options.scores->name(), options.scores);
}

void MultiHeadAttentionImpl::set_packing(const Packing& packing) {
  packed_together_.set_packing(packing);
  cache_type_ = packing.format == kernels::WeightFormat::kFloat32 ? torch::kFloat32 : torch::kBFloat16;
}

InitialValues MultiHeadAttentionImpl::initial_values_below(const torch::nn::Module& submodule,
                                                           const InitialValues& values) const {
  if (options_.scores && &submodule == query_.get()) return values.scaled(options_.scores->initial_query_gain());
  if (&submodule == value_.get() || (output_ && &submodule == output_.get())) return values.scaled(values.branch_gain);
  return values;
}

bool MultiHeadAttentionImpl::fits_kernel() const {
  return options_.softmax && (!options_.scores || options_.scores->fits_kernel());
}

HeadCounts MultiHeadAttentionImpl::heads() const {
  return {.query = options_.heads, .key_value = options_.heads / groups_};
}

int64_t MultiHeadAttentionImpl::key_size() const { return options_.model / groups_; }

torch::Tensor MultiHeadAttentionImpl::project(Linear& layer, const torch::Tensor& x) {
  return layer(x, Epilogue{.activation = options_.qkv_activation});
}

torch::Tensor MultiHeadAttentionImpl::transform(const torch::Tensor& x, int64_t first) {
  return options_.scores ? options_.scores->transform(x, first) : x;
}

torch::Tensor MultiHeadAttentionImpl::forward(const torch::Tensor& x, const torch::Tensor& lengths,
                                              ForwardContext& pass) {
  return forward_self(x, lengths, /*causal=*/true, pass);
}

torch::Tensor MultiHeadAttentionImpl::project_together(std::initializer_list<Linear> layers, const torch::Tensor& x) {
  if (has_decoding_kernel(x)) {
    const Epilogue epilogue{.activation = options_.qkv_activation};
    const auto map = [](const Linear& layer) { return AffineMap{layer->weight, layer->bias}; };
    const Linear* layer = layers.begin();
    return layers.size() == 2 ? packed_together_.multiply(x, {map(layer[0]), map(layer[1])}, epilogue)
                              : packed_together_.multiply(x, {map(layer[0]), map(layer[1]), map(layer[2])}, epilogue);
  }
  std::vector<AffineMap> maps;
  for (const auto& layer : layers) maps.push_back({layer->weight, layer->bias});
  const auto projected = linear(x, maps);
  return activate(projected, options_.qkv_activation);
}

torch::Tensor MultiHeadAttentionImpl::attend(const torch::Tensor& q, const KeyValues& kv, AttentionOptions options,
                                             ForwardContext& pass) {
  options.heads = options_.heads;
  options.dropout = options_.dropout;
  options.softmax = options_.softmax;
  if (!fits_kernel()) options.scores = options_.scores.get();
  torch::Tensor weights;
  const auto context = attention(q, repeat_heads(kv.keys, heads()), repeat_heads(kv.values, heads()), options, pass,
                                 pass.records_attention(options_.name) ? &weights : nullptr);
  if (weights.defined()) pass.record(options_.name, weights);
  return context;
}

torch::Tensor MultiHeadAttentionImpl::join(const torch::Tensor& context, const torch::Tensor& residual) {
  const Epilogue epilogue{.residual = residual};
  return options_.output_projection ? output_(context, epilogue) : epilogue.apply(context);
}

torch::Tensor MultiHeadAttentionImpl::forward_self(const torch::Tensor& x, const torch::Tensor& lengths, bool causal,
                                                   ForwardContext& pass, const torch::Tensor& residual) {
  const auto qkv = split_columns(project_together({query_, key_, value_}, x), {options_.model, key_size(), key_size()});
  return join(attend(transform(qkv[0], 0), {transform(qkv[1], 0), qkv[2]},
                     {.causal = causal, .target_lengths = lengths, .source_lengths = lengths}, pass),
              residual);
}

torch::Tensor MultiHeadAttentionImpl::forward_cross(const torch::Tensor& x, const torch::Tensor& target_lengths,
                                                    const torch::Tensor& memory, const torch::Tensor& source_lengths,
                                                    ForwardContext& pass) {
  const auto kv = split_columns(project_together({key_, value_}, memory), {key_size(), key_size()});
  return join(attend(project(query_, x), {kv[0], kv[1]},
                     {.target_lengths = target_lengths, .source_lengths = source_lengths}, pass),
              {});
}

AttentionForm MultiHeadAttentionImpl::form() const {
  return {.heads = heads(),
          .softmax = options_.softmax,
          .scores = fits_kernel() ? nullptr : options_.scores,
          .kept_type = cache_type_};
}

inference::AttentionWeights MultiHeadAttentionImpl::attention_weights() {
  if (!options_.softmax) throw inference::Unsupported("attention without softmax");
  return {.heads = options_.heads,
          .key_value_heads = heads().key_value,
          .head_dim = options_.model / options_.heads,
          .query = std::nullopt,
          .together = {},
          .output = output_ ? std::optional(output_->inference_map()) : std::nullopt,
          .activation = options_.qkv_activation,
          .kept = cache_type_ == torch::kFloat32 ? kernels::Type::kFloat : kernels::Type::kBfloat16,
          .rotation = options_.scores ? options_.scores->inference_rotation() : nullptr};
}

inference::AttentionWeights MultiHeadAttentionImpl::self_attention_weights() {
  auto weights = attention_weights();
  weights.together = packed_together_.map(
      {{query_->weight, query_->bias}, {key_->weight, key_->bias}, {value_->weight, value_->bias}});
  return weights;
}

inference::AttentionWeights MultiHeadAttentionImpl::cross_attention_weights() {
  auto weights = attention_weights();
  if (weights.rotation) throw inference::Unsupported("cross-attention with positions");
  weights.query = query_->inference_map();
  weights.together = packed_together_.map({{key_->weight, key_->bias}, {value_->weight, value_->bias}});
  return weights;
}

DecodingCapabilities MultiHeadAttentionImpl::capabilities() const {
  const bool can_be_static = options_.softmax && !options_.scores;
  return {.ragged_positions = fits_kernel(),
          .exact_prefill = true,
          .static_positions = can_be_static ? std::numeric_limits<int64_t>::max() : 0};
}

std::unique_ptr<LayerCache> MultiHeadAttentionImpl::start(const CacheOptions& options) const {
  return make_key_value_cache(options, form());
}

torch::Tensor MultiHeadAttentionImpl::step(const torch::Tensor& x, LayerCache& cache, const RowPositions& positions,
                                           const torch::Tensor& residual) {
  auto& past = dynamic_cast<KeyValueCache&>(cache);
  const auto qkv = project_together({query_, key_, value_}, x);  // [rows, n, model + 2 * key_size()]
  if (options_.scores) transform_step(qkv, positions);
  past.append(qkv.narrow(-1, options_.model, 2 * key_size()));
  return join(past.attend(qkv.narrow(-1, 0, options_.model)), residual);
}

void MultiHeadAttentionImpl::transform_step(torch::Tensor qkv, const RowPositions& positions) {
  for (const auto& [first, rows, position] : positions.runs(qkv.size(0))) {
    const auto own = qkv.narrow(0, first, rows);
    for (const auto& part : {own.narrow(-1, 0, options_.model), own.narrow(-1, options_.model, key_size())})
      if (const auto transformed = transform(part, position); !transformed.is_alias_of(part)) part.copy_(transformed);
  }
}

std::unique_ptr<SourceCache> MultiHeadAttentionImpl::start_cross(const torch::Tensor& memory, CacheForm form) {
  return make_source_cache(form, project_together({key_, value_}, memory), this->form());
}

StaticKeyValues MultiHeadAttentionImpl::project_static(const torch::Tensor& memory) {
  const auto kv = project_together({key_, value_}, memory).chunk(2, -1);
  return {.keys = heads_first(kv[0], heads()), .values = heads_first(kv[1], heads()), .visible = {}};
}

torch::Tensor MultiHeadAttentionImpl::step_cross(const torch::Tensor& x, SourceCache& source,
                                                 std::span<const SourcePlace> places, const torch::Tensor& residual) {
  return join(source.attend(project(query_, x), places), residual);
}

}  // namespace nmt
