#include "models/model.h"

#include <ATen/CPUGeneratorImpl.h>

#include <cmath>

#include "base/error.h"
#include "models/transformer.h"
#include "nn/linear.h"

namespace nmt {

TensorBatch to_tensors(const Batch& batch, torch::Device device) {
  const auto tensor = [](const std::vector<int64_t>& values, at::IntArrayRef sizes) {
    return torch::tensor(at::ArrayRef<int64_t>(values), torch::kInt64).view(sizes);
  };
  const auto move = [&](const torch::Tensor& x) { return x.to(device, /*non_blocking=*/true); };
  return {.source = move(tensor(batch.source, {batch.size, batch.source_width})),
          .source_lengths = tensor(batch.source_lengths, {batch.size}),
          .target_in = move(tensor(batch.target_in, {batch.size, batch.target_width})),
          .target_out = move(tensor(batch.target_out, {batch.size, batch.target_width})),
          .target_lengths = tensor(batch.target_lengths, {batch.size})};
}

std::vector<AttentionMap> TranslationModel::attention_maps(const TensorBatch& batch) {
  const torch::InferenceMode no_gradients;
  std::vector<AttentionMap> maps;
  Pass pass;
  pass.record_attention(maps);
  forward(batch, pass);
  return maps;
}

torch::Tensor TranslationModel::logits(const torch::Tensor& hidden) const {
  return linear(hidden, output_weight(), output_bias()).to(torch::kFloat32);
}

int64_t TranslationModel::parameter_count() const {
  int64_t count = 0;
  for (const auto& parameter : parameters()) count += parameter.numel();
  return count;
}

std::shared_ptr<TranslationModel> make_model(const ModelConfig& config, int64_t source_vocabulary,
                                             int64_t target_vocabulary) {
  if (config.architecture == "transformer")
    return std::make_shared<Transformer>(config, source_vocabulary, target_vocabulary);
  throw Error("model.architecture: '" + config.architecture + "' is none of transformer");
}

void initialise(TranslationModel& model, const ModelConfig& config, uint64_t seed) {
  const torch::NoGradGuard no_grad;
  auto generator = at::detail::createCPUGenerator(mix64(seed));
  for (auto& item : model.named_parameters()) {
    auto& parameter = item.value();
    const auto& name = item.key();
    if (parameter.dim() < 2) {  // norms start as the identity, biases at zero
      parameter.fill_(name.ends_with("norm.weight") ? 1.0 : 0.0);
      continue;
    }
    const bool embedding = name.ends_with("embedding"), positions = name.find("positions") != std::string::npos;
    auto values = torch::empty(parameter.sizes(), torch::kFloat32);
    if (positions || (embedding && config.embedding_init == "normal")) {
      values.normal_(0, std::pow(static_cast<double>(config.d_model), -0.5), generator);
    } else {  // Glorot and Bengio 2010, eq. 16
      const double limit = std::sqrt(6.0 / static_cast<double>(parameter.size(0) + parameter.size(1)));
      values.uniform_(-limit, limit, generator);
    }
    if (embedding && config.zero_padding_embedding) values[0].zero_();
    parameter.copy_(values);
  }
}

}  // namespace nmt
