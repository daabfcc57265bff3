#include "models/interface/model.h"

#include <utility>

#include "nn/device/cpu_kernels.h"
#include "nn/device/device.h"
#include "nn/ops/linear.h"

namespace nmt {

void DecoderState::join(std::unique_ptr<DecoderState> /*other*/) {
  TORCH_CHECK(false, "a search whose sentences start together");
}

namespace {

torch::Tensor alignment_of(const Batch& batch) {
  const auto alignment = torch::zeros({batch.size, batch.target_width, batch.source_width}, torch::kFloat32);
  float* weights = alignment.mutable_data_ptr<float>();
  for (const auto& [row, target, source] : batch.links)
    weights[(row * batch.target_width + target) * batch.source_width + source] = 1;
  return alignment / alignment.sum(-1, /*keepdim=*/true).clamp_min(1);
}

}  // namespace

TensorBatch to_tensors(const Batch& batch, torch::Device device) {
  const auto tensor = [](const std::vector<int64_t>& values, at::IntArrayRef sizes) {
    return torch::tensor(at::ArrayRef<int64_t>(values), torch::kInt64).view(sizes);
  };
  const auto ids = [&](const std::vector<int64_t>& values, int64_t width) {
    return copy_to_device(tensor(values, {batch.size, width}), device);
  };
  return {.source = ids(batch.source, batch.source_width),
          .source_lengths = tensor(batch.source_lengths, {batch.size}),
          .target_in = ids(batch.target_in, batch.target_width),
          .target_out = ids(batch.target_out, batch.target_width),
          .target_lengths = tensor(batch.target_lengths, {batch.size}),
          .alignment = batch.links.empty() ? torch::Tensor() : copy_to_device(alignment_of(batch), device)};
}

std::vector<AttentionMap> TranslationModel::attention_maps(const TensorBatch& batch) {
  std::vector<AttentionMap> maps;
  visit_attention(batch, [&](const AttentionMap& map) { maps.push_back(map); });
  return maps;
}

void TranslationModel::visit_attention(const TensorBatch& batch, std::function<void(const AttentionMap&)> visitor) {
  const c10::NoGradGuard no_gradients;
  ForwardContext pass;
  pass.record_attention(std::move(visitor));
  forward(batch, pass);
}

torch::Tensor TranslationModel::logits(const torch::Tensor& hidden) const {
  return linear(hidden, output_weight(), output_bias()).to(torch::kFloat32);
}

/// Some tokens' part of the output layer, made at the first step: packed, or as tensors.
struct DecoderState::Outputs {
  std::vector<int32_t> tokens;
  std::shared_ptr<const PackedMatrix::Packed> packed = nullptr;
  torch::Tensor weight = {}, bias = {};
};

void TranslationModel::restrict_outputs(DecoderState& state, std::vector<int32_t> tokens) const {
  state.outputs_ = std::make_shared<DecoderState::Outputs>(DecoderState::Outputs{.tokens = std::move(tokens)});
}

torch::Tensor TranslationModel::step_logits(DecoderState& state, const torch::Tensor& output, StepLogits which) {
  const auto hidden = which == StepLogits::kEach ? output : output.select(1, output.size(1) - 1);
  const auto weight = output_weight(), bias = output_bias();
  if (!state.outputs_) return linear(hidden, weight, bias, packed_output_).to(torch::kFloat32);
  auto& outputs = *state.outputs_;
  if (has_decoding_kernel(hidden)) {
    if (!outputs.packed) outputs.packed = packed_output_.gather({weight, bias}, outputs.tokens);
    return PackedMatrix::multiply(hidden, *outputs.packed);
  }
  if (!outputs.weight.defined()) {
    const auto rows = copy_to_device(torch::tensor(outputs.tokens, torch::kInt32), weight.device());
    outputs.weight = weight.index_select(0, rows);
    if (bias.defined()) outputs.bias = bias.index_select(0, rows);
  }
  return linear(hidden, outputs.weight, outputs.bias).to(torch::kFloat32);
}

void TranslationModel::set_packing(const Packing& packing) {
  for (auto* packed : {&packed_output_, &packed_source_, &packed_target_}) packed->set_packing(packing);
  for (const auto& part : modules(/*include_self=*/false))
    if (auto* layer = dynamic_cast<KeepsPackedWeights*>(part.get())) layer->set_packing(packing);
}

EmbeddingTable TranslationModel::look_ups(const torch::Tensor& table, PackedMatrix& own) {
  return table.is_same(output_weight()) ? EmbeddingTable(table, &packed_output_, output_bias())
                                        : EmbeddingTable(table, &own);
}

EmbeddingTable TranslationModel::source_look_ups(const torch::Tensor& table) { return look_ups(table, packed_source_); }
EmbeddingTable TranslationModel::target_look_ups(const torch::Tensor& table) { return look_ups(table, packed_target_); }

std::set<std::string> TranslationModel::packed_parameters() const {
  std::set<std::string> names;
  for (const auto& own : named_parameters(/*recurse=*/false))  // tables and output layer
    if (own.value().dim() == 2) names.insert(own.key());
  for (const auto& part : named_modules())
    if (dynamic_cast<const LinearImpl*>(part.value().get())) names.insert(part.key() + ".weight");
  return names;
}

int64_t TranslationModel::parameter_count() const {
  int64_t count = 0;
  for (const auto& parameter : parameters()) count += parameter.numel();
  return count;
}

}  // namespace nmt
