#include "models/make_model.h"

#include <ATen/CPUGeneratorImpl.h>

#include <cmath>
#include <optional>
#include <string>

#include "base/error.h"
#include "base/random.h"
#include "models/recurrent/recurrent_model.h"
#include "models/transformer/deep_init.h"
#include "models/transformer/transformer.h"

namespace nmt {

std::shared_ptr<TranslationModel> make_model(const ModelConfig& config, int64_t source_vocabulary,
                                             int64_t target_vocabulary) {
  if (config.architecture == "transformer")
    return std::make_shared<Transformer>(config, source_vocabulary, target_vocabulary);
  if (config.architecture == "recurrent")
    return std::make_shared<RecurrentModel>(config, source_vocabulary, target_vocabulary);
  throw Error("model.architecture: '" + config.architecture + "' is none of transformer, recurrent");
}

namespace {

// Deviation of the normal distribution that a matrix starts from; none: Xavier-uniform.
std::optional<double> initial_deviation(const std::string& name, const ModelConfig& config) {
  const auto of_table = [&](const std::string& kind) -> std::optional<double> {
    if (kind == "normal") return std::pow(static_cast<double>(config.d_model), -0.5);
    if (kind == "standard_normal") return 1.0;
    if (kind == "init" && config.init == "normal") return config.init_std;
    return std::nullopt;
  };
  if (name.ends_with("embedding")) return of_table(config.embedding_init);
  if (name.substr(0, name.rfind('.')).ends_with("positions")) return of_table(config.position_init);
  if (config.attention_init == "bahdanau" && name.find(".attention.score.") != std::string::npos)
    return name.ends_with(".v") ? 0 : 0.001;
  const bool recurrent = name.ends_with("recurrent.weight");
  return (recurrent ? config.recurrent_init : config.init) == "normal" ? std::optional(config.init_std) : std::nullopt;
}

// Orthogonal square blocks one below the other, a gate each, from the QR decomposition of normal matrices (Saxe et al.
// 2014).
torch::Tensor orthogonal_blocks(const torch::Tensor& matrix, at::Generator& generator) {
  std::vector<torch::Tensor> blocks;
  for (int64_t row = 0; row < matrix.size(0); row += matrix.size(1)) {
    const auto normal = torch::empty({matrix.size(1), matrix.size(1)}, torch::kFloat64).normal_(0, 1, generator);
    const auto [q, r] = torch::linalg_qr(normal);
    blocks.push_back(q * r.diagonal().sign());  // uniform over all orthogonal matrices
  }
  return torch::cat(blocks).to(torch::kFloat32);
}

}  // namespace

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
    auto values = torch::empty(parameter.sizes(), torch::kFloat32);
    if (config.recurrent_init == "orthogonal" && name.ends_with("recurrent.weight")) {
      values = orthogonal_blocks(parameter, generator);
    } else if (const auto deviation = initial_deviation(name, config)) {
      values.normal_(0, *deviation, generator);
    } else {  // Glorot and Bengio 2010, eq. 16
      const double limit = std::sqrt(6.0 / static_cast<double>(parameter.size(0) + parameter.size(1)));
      values.uniform_(-limit, limit, generator);
    }
    if (config.deep_init != "none") values.mul_(initial_gain(name, config));
    // T5's scores lack 1 / sqrt(head_dim), its queries start smaller by as much instead (Raffel et al. 2020).
    if (config.positions == "t5" && name.ends_with("self_attention.query.weight"))
      values.mul_(std::sqrt(static_cast<double>(config.num_heads) / static_cast<double>(config.d_model)));
    if (config.zero_padding_embedding && name.ends_with("embedding")) values[0].zero_();
    parameter.copy_(values);
  }
}

}  // namespace nmt
