#include "nn/multi_head_attention.h"

#include <ATen/ops/cat.h>

#include <vector>

namespace nmt {

MultiHeadAttentionImpl::MultiHeadAttentionImpl(const Options& options) : options_(options) {
  const auto bias = options.bias ? LinearImpl::Bias::kYes : LinearImpl::Bias::kNo;
  const int64_t model = options.model;
  query_ = register_module("query", Linear(model, model, bias));
  key_ = register_module("key", Linear(model, model, bias));
  value_ = register_module("value", Linear(model, model, bias));
  if (options.output_projection) output_ = register_module("output", Linear(model, model, bias));
}

torch::Tensor MultiHeadAttentionImpl::project_together(std::initializer_list<Linear> layers, const torch::Tensor& x) {
  std::vector<torch::Tensor> parts;
  if (!torch::GradMode::is_enabled()) {  // decoding: each weight has its packed form
    for (auto layer : layers) parts.push_back(layer(x));
    return activate(at::cat(parts, -1), options_.qkv_activation);
  }
  std::vector<torch::Tensor> biases;
  for (const auto& layer : layers) {
    parts.push_back(layer->weight);
    if (options_.bias) biases.push_back(layer->bias);
  }
  return activate(linear(x, at::cat(parts), options_.bias ? at::cat(biases) : torch::Tensor()),
                  options_.qkv_activation);
}

AttentionOptions MultiHeadAttentionImpl::attention_options(bool causal, const torch::Tensor& target_lengths,
                                                           const torch::Tensor& source_lengths) const {
  return {.heads = options_.heads,
          .dropout = options_.dropout,
          .causal = causal,
          .target_lengths = target_lengths,
          .source_lengths = source_lengths};
}

torch::Tensor MultiHeadAttentionImpl::forward_self(const torch::Tensor& x, const torch::Tensor& lengths, bool causal,
                                                   Pass& pass) {
  const auto qkv = project_together({query_, key_, value_}, x).chunk(3, -1);
  return join(attention(qkv[0], qkv[1], qkv[2], attention_options(causal, lengths, lengths), pass));
}

torch::Tensor MultiHeadAttentionImpl::forward_cross(const torch::Tensor& x, const torch::Tensor& target_lengths,
                                                    const torch::Tensor& memory, const torch::Tensor& source_lengths,
                                                    Pass& pass) {
  const auto kv = project_together({key_, value_}, memory).chunk(2, -1);
  return join(
      attention(project(query_, x), kv[0], kv[1], attention_options(false, target_lengths, source_lengths), pass));
}

KeyValues MultiHeadAttentionImpl::project_memory(const torch::Tensor& x) {
  return {project(key_, x), project(value_, x)};
}

torch::Tensor MultiHeadAttentionImpl::step(const torch::Tensor& x, const KeyValues& memory,
                                           const torch::Tensor& memory_of_row, const torch::Tensor& lengths) {
  return join(attention_step(project(query_, x), memory.keys, memory.values, options_.heads, memory_of_row, lengths));
}

}  // namespace nmt
