#include "models/one_sentence.h"

#include <c10/core/GradMode.h>

#include "nn/device/device.h"

namespace nmt {
namespace {

torch::Tensor ids_of(const TranslationModel& model, std::span<const int64_t> ids) {
  return copy_to_device(torch::tensor(at::ArrayRef<int64_t>(ids.data(), ids.size()), torch::kInt64),
                        model.output_weight().device());
}

torch::Tensor length_of(std::span<const int64_t> ids) { return torch::tensor({std::ssize(ids)}, torch::kInt64); }

std::vector<double> mean_of_rows(const torch::Tensor& rows) {
  if (!rows.defined()) return {};
  const auto mean = rows.to(torch::kCPU, torch::kFloat64).mean(0);
  return {mean.const_data_ptr<double>(), mean.const_data_ptr<double>() + mean.numel()};
}

}  // namespace

std::vector<AttentionLayer> TranslationModel::attention_layers(std::span<const int64_t> source,
                                                               std::span<const int64_t> target_in) {
  const TensorBatch batch{.source = ids_of(*this, source).unsqueeze(0),
                          .source_lengths = length_of(source),
                          .target_in = ids_of(*this, target_in).unsqueeze(0),
                          .target_out = {},  // the attention does not depend on it
                          .target_lengths = length_of(target_in)};
  std::vector<AttentionLayer> layers;
  visit_attention(batch, [&](const AttentionMap& map) {
    const auto weights = map.weights[0].cpu().contiguous();  // [heads, queries, keys]
    const float* first = weights.const_data_ptr<float>();
    layers.push_back({.name = map.name,
                      .heads = weights.size(0),
                      .queries = weights.size(1),
                      .keys = weights.size(2),
                      .weights = {first, first + weights.numel()}});
  });
  return layers;
}

std::vector<double> mean_source_embedding(TranslationModel& model, std::span<const int64_t> source) {
  const c10::NoGradGuard no_gradients;
  return mean_of_rows(model.source_embeddings(ids_of(model, source)));
}

std::vector<double> mean_encoder_output(TranslationModel& model, std::span<const int64_t> source) {
  const c10::NoGradGuard no_gradients;
  const auto states = model.encoder_output(ids_of(model, source).unsqueeze(0), length_of(source));
  return states.defined() ? mean_of_rows(states[0]) : std::vector<double>{};
}

}  // namespace nmt
