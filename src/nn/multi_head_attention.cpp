#include "nn/multi_head_attention.h"

#include <ATen/ops/cat.h>

#include <algorithm>
#include <vector>

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

std::vector<torch::Tensor> MultiHeadAttentionImpl::project_together(std::initializer_list<Linear> layers,
                                                                    const torch::Tensor& x) {
  std::vector<torch::Tensor> parts, biases;
  std::vector<int64_t> sizes;
  for (const auto& layer : layers) sizes.push_back(layer->weight.size(0));
  if (!torch::GradMode::is_enabled()) {  // decoding: each weight has its packed form
    for (auto layer : layers) parts.push_back(layer(x));
    return activate(at::cat(parts, -1), options_.qkv_activation).split_with_sizes(sizes, -1);
  }
  for (const auto& layer : layers) {
    parts.push_back(layer->weight);
    if (options_.bias) biases.push_back(layer->bias);
  }
  const auto projected = linear(x, at::cat(parts), options_.bias ? at::cat(biases) : torch::Tensor());
  return activate(projected, options_.qkv_activation).split_with_sizes(sizes, -1);
}

torch::Tensor MultiHeadAttentionImpl::repeat_heads(const torch::Tensor& x) const {
  if (groups_ == 1) return x;
  const auto heads = x.unflatten(-1, {options_.heads / groups_, 1, -1});  // [batch, time, key_value_heads, 1, head_dim]
  return heads.expand({-1, -1, -1, groups_, -1}).flatten(2);
}

torch::Tensor MultiHeadAttentionImpl::attend(const torch::Tensor& q, const KeyValues& kv, AttentionOptions options,
                                             Pass& pass) {
  options.heads = options_.heads;
  options.dropout = options_.dropout;
  options.softmax = options_.softmax;
  if (!fits_kernel()) options.scores = options_.scores.get();
  torch::Tensor weights;
  const auto context = attention(q, repeat_heads(kv.keys), repeat_heads(kv.values), options, pass,
                                 pass.records_attention() ? &weights : nullptr);
  if (pass.records_attention()) pass.record(options_.name, weights);
  return join(context);
}

torch::Tensor MultiHeadAttentionImpl::forward_self(const torch::Tensor& x, const torch::Tensor& lengths, bool causal,
                                                   Pass& pass) {
  const auto qkv = project_together({query_, key_, value_}, x);
  return attend(turn(qkv[0], 0), {turn(qkv[1], 0), qkv[2]},
                {.causal = causal, .target_lengths = lengths, .source_lengths = lengths}, pass);
}

torch::Tensor MultiHeadAttentionImpl::forward_cross(const torch::Tensor& x, const torch::Tensor& target_lengths,
                                                    const torch::Tensor& memory, const torch::Tensor& source_lengths,
                                                    Pass& pass) {
  const auto kv = project_together({key_, value_}, memory);
  return attend(project(query_, x), {kv[0], kv[1]},
                {.target_lengths = target_lengths, .source_lengths = source_lengths}, pass);
}

KeyValues MultiHeadAttentionImpl::project_memory(const torch::Tensor& memory) {
  return {project(key_, memory), project(value_, memory)};
}

// The kernel takes groups of heads as rows: row r, group member g is row r * groups + g with key_value_heads heads.
torch::Tensor MultiHeadAttentionImpl::attend_step(const torch::Tensor& q, const KeyValues& kv,
                                                  const torch::Tensor& memory_of_row, const torch::Tensor& lengths) {
  if (groups_ == 1) return join(attention_step(q, kv.keys, kv.values, options_.heads, memory_of_row, lengths));
  const int64_t rows = q.size(0), shared = options_.heads / groups_;
  const auto regroup = [&](const torch::Tensor& x, int64_t from, int64_t to) {
    return x.reshape({rows, from, to, -1}).transpose(1, 2);
  };
  const auto row = memory_of_row.defined() ? memory_of_row : torch::arange(rows, torch::kInt64);
  const auto queries = regroup(q, shared, groups_).reshape({rows * groups_, -1});
  const auto context = attention_step(queries, kv.keys, kv.values, shared, row.repeat_interleave(groups_), lengths);
  return join(regroup(context, groups_, shared).reshape({rows, -1}));
}

torch::Tensor MultiHeadAttentionImpl::step_cross(const torch::Tensor& x, const KeyValues& memory,
                                                 const torch::Tensor& memory_of_row, const torch::Tensor& lengths) {
  const auto q = project(query_, x);
  if (fits_kernel()) return attend_step(q, memory, memory_of_row, lengths);
  Pass no_dropout;
  const auto of_row = [&](const torch::Tensor& all) { return all.index_select(0, memory_of_row.to(all.device())); };
  return attend(q.unsqueeze(1), {of_row(memory.keys), of_row(memory.values)}, {.source_lengths = of_row(lengths)},
                no_dropout)
      .squeeze(1);
}

torch::Tensor MultiHeadAttentionImpl::step(const torch::Tensor& x, MixerState& state, int64_t position) {
  const int64_t rows = x.size(0);
  const auto at_place = [&](const torch::Tensor& y) { return turn(y.unsqueeze(1), position).squeeze(1); };
  auto fresh = project_memory(x);  // [rows, key_value_heads * head_dim]
  fresh.keys = at_place(fresh.keys);
  if (state.tensors.empty()) state.tensors.assign(2, fresh.keys.new_empty({rows, 0, fresh.keys.size(1)}));
  if (position >= state.tensors[0].size(1)) {  // full: twice the room
    for (auto& cache : state.tensors) {
      auto wider = cache.new_zeros({rows, std::max<int64_t>(16, 2 * position), cache.size(2)});
      wider.narrow(1, 0, position).copy_(cache.narrow(1, 0, position));
      cache = wider;
    }
  }
  state.tensors[0].select(1, position).copy_(fresh.keys);
  state.tensors[1].select(1, position).copy_(fresh.values);
  const KeyValues cached{state.tensors[0], state.tensors[1]};
  const auto q = at_place(project(query_, x));
  if (fits_kernel()) return attend_step(q, cached, {}, torch::full({rows}, position + 1, torch::kInt64));
  Pass no_dropout;
  const auto so_far = [&](const torch::Tensor& cache) { return cache.narrow(1, 0, position + 1); };
  return attend(q.unsqueeze(1), {so_far(cached.keys), so_far(cached.values)}, {.first_query = position}, no_dropout)
      .squeeze(1);
}

}  // namespace nmt
