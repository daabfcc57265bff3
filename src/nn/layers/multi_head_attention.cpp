#include "nn/layers/multi_head_attention.h"

#include <ATen/ops/cat.h>

#include <algorithm>
#include <vector>

#include "nn/ops/kernel_support.h"

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

torch::Tensor MultiHeadAttentionImpl::project_together(std::initializer_list<Linear> layers, const torch::Tensor& x) {
  if (has_decoding_kernel(x)) {
    const Epilogue epilogue{.activation = options_.qkv_activation};
    const auto map = [](const Linear& layer) { return AffineMap{layer->weight, layer->bias}; };
    const Linear* layer = layers.begin();
    return layers.size() == 2 ? packed_together_.multiply(x, {map(layer[0]), map(layer[1])}, epilogue)
                              : packed_together_.multiply(x, {map(layer[0]), map(layer[1]), map(layer[2])}, epilogue);
  }
  std::vector<torch::Tensor> weights, biases;
  for (const auto& layer : layers) {
    weights.push_back(layer->weight);
    if (options_.bias) biases.push_back(layer->bias);
  }
  const auto projected = linear(x, at::cat(weights), options_.bias ? at::cat(biases) : torch::Tensor());
  return activate(projected, options_.qkv_activation);
}

torch::Tensor MultiHeadAttentionImpl::repeat_heads(const torch::Tensor& x) const {
  if (groups_ == 1) return x;
  const auto heads = x.unflatten(-1, {options_.heads / groups_, 1, -1});  // [batch, time, key_value_heads, 1, head_dim]
  return heads.expand({-1, -1, -1, groups_, -1}).flatten(2);
}

torch::Tensor MultiHeadAttentionImpl::attend(const torch::Tensor& q, const KeyValues& kv, AttentionOptions options,
                                             ForwardContext& pass) {
  options.heads = options_.heads;
  options.dropout = options_.dropout;
  options.softmax = options_.softmax;
  if (!fits_kernel()) options.scores = options_.scores.get();
  torch::Tensor weights;
  const auto context = attention(q, repeat_heads(kv.keys), repeat_heads(kv.values), options, pass,
                                 pass.records_attention() ? &weights : nullptr);
  if (pass.records_attention()) pass.record(options_.name, weights);
  return context;
}

torch::Tensor MultiHeadAttentionImpl::join(const torch::Tensor& context, const torch::Tensor& residual) {
  const Epilogue epilogue{.residual = residual};
  return options_.output_projection ? output_(context, epilogue) : epilogue.apply(context);
}

torch::Tensor MultiHeadAttentionImpl::forward_self(const torch::Tensor& x, const torch::Tensor& lengths, bool causal,
                                                   ForwardContext& pass, const torch::Tensor& residual) {
  const auto qkv =
      project_together({query_, key_, value_}, x).split_with_sizes({options_.model, key_size(), key_size()}, -1);
  return join(attend(transform(qkv[0], 0), {transform(qkv[1], 0), qkv[2]},
                     {.causal = causal, .target_lengths = lengths, .source_lengths = lengths}, pass),
              residual);
}

torch::Tensor MultiHeadAttentionImpl::forward_cross(const torch::Tensor& x, const torch::Tensor& target_lengths,
                                                    const torch::Tensor& memory, const torch::Tensor& source_lengths,
                                                    ForwardContext& pass) {
  const auto kv = project_together({key_, value_}, memory).chunk(2, -1);
  return join(attend(project(query_, x), {kv[0], kv[1]},
                     {.target_lengths = target_lengths, .source_lengths = source_lengths}, pass),
              {});
}

KeyValues MultiHeadAttentionImpl::project_memory(const torch::Tensor& memory) {
  auto kv = project_together({key_, value_}, memory);
  if (fits_kernel() && has_decoding_kernel(kv)) kv = kv.to(cache_type_);
  const auto parts = kv.chunk(2, -1);
  return {parts[0], parts[1]};
}

torch::Tensor MultiHeadAttentionImpl::step_cross(const torch::Tensor& x, std::span<const KeyValues> memories,
                                                 std::span<const MemoryPlace> memory_of_row,
                                                 const torch::Tensor& residual) {
  const auto q = project(query_, x);
  if (fits_kernel() && has_decoding_kernel(q))
    return join(attention_step(q, memories, heads(), memory_of_row), residual);
  TORCH_CHECK(memories.size() == 1, "plain attention takes one memory");
  const auto& memory = memories.front();
  std::vector<int64_t> index, lengths;
  for (const auto& place : memory_of_row) {
    index.push_back(place.index);
    lengths.push_back(place.length);
  }
  const auto rows = torch::tensor(index, torch::kInt64).to(memory.keys.device());
  ForwardContext no_dropout;
  const auto context = attend(q.unsqueeze(1), {memory.keys.index_select(0, rows), memory.values.index_select(0, rows)},
                              {.source_lengths = torch::tensor(lengths, torch::kInt64)}, no_dropout);
  return join(context.squeeze(1), residual);
}

FixedKeyValues MultiHeadAttentionImpl::split_heads(const KeyValues& memory) const {
  return {.keys = heads_first(memory.keys), .values = heads_first(memory.values), .visible = {}};
}

torch::Tensor MultiHeadAttentionImpl::step_cross(const torch::Tensor& x, const FixedKeyValues& memory,
                                                 const torch::Tensor& residual) {
  return join(attention_step(project(query_, x), memory), residual);
}

torch::Tensor MultiHeadAttentionImpl::step(const torch::Tensor& x, MixerState& state, const RowPositions& positions,
                                           const torch::Tensor& residual) {
  if (state.fixed) return join(context_of_fixed(x, state), residual);
  if (!fits_kernel() || !has_decoding_kernel(x)) return join(context_of_cache(x, state, positions.common()), residual);
  const auto qkv = project_together({query_, key_, value_}, x);
  if (options_.scores) {
    for (const auto& [first, rows, position] : positions.runs(x.size(0))) {
      const auto own = qkv.narrow(0, first, rows);
      for (auto part : {own.narrow(1, 0, options_.model), own.narrow(1, options_.model, key_size())})
        part.copy_(transform(part.unsqueeze(1), position).squeeze(1));
    }
  }
  return join(attention_step(qkv, state.history, heads(), cache_type_), residual);
}

torch::Tensor MultiHeadAttentionImpl::context_of_fixed(const torch::Tensor& x, MixerState& state) {
  const auto qkv =
      project_together({query_, key_, value_}, x).split_with_sizes({options_.model, key_size(), key_size()}, -1);
  const FixedPlace& place = *state.fixed;
  if (state.tensors.empty()) {
    const int64_t heads = this->heads().key_value;
    for (int i = 0; i < 2; ++i)
      state.tensors.push_back(x.new_zeros({x.size(0), heads, place.room, key_size() / heads}));
  }
  for (int i = 0; i < 2; ++i)
    state.tensors[i].index_copy_(2, place.position, heads_first(qkv[i + 1].unsqueeze(1)).to(x.scalar_type()));
  return attention_step(qkv[0], {state.tensors[0], state.tensors[1], place.visible});
}

torch::Tensor MultiHeadAttentionImpl::context_of_cache(const torch::Tensor& x, MixerState& state, int64_t position) {
  const int64_t rows = x.size(0);
  const auto at_place = [&](const torch::Tensor& y) { return transform(y.unsqueeze(1), position).squeeze(1); };
  const auto qkv =
      project_together({query_, key_, value_}, x).split_with_sizes({options_.model, key_size(), key_size()}, -1);
  if (state.tensors.empty()) state.tensors.assign(2, x.new_empty({rows, 0, key_size()}));
  if (position >= state.tensors[0].size(1)) {  // full: twice the room
    for (auto& cache : state.tensors) {
      auto wider = cache.new_zeros({rows, std::max<int64_t>(16, 2 * position), cache.size(2)});
      wider.narrow(1, 0, position).copy_(cache.narrow(1, 0, position));
      cache = wider;
    }
  }
  state.tensors[0].select(1, position).copy_(at_place(qkv[1]));
  state.tensors[1].select(1, position).copy_(qkv[2]);
  ForwardContext no_dropout;
  const auto so_far = [&](const torch::Tensor& cache) { return cache.narrow(1, 0, position + 1); };
  return attend(at_place(qkv[0]).unsqueeze(1), {so_far(state.tensors[0]), so_far(state.tensors[1])},
                {.first_query = position}, no_dropout)
      .squeeze(1);
}

}  // namespace nmt
