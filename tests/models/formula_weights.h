#pragma once

#include <cmath>
#include <string>

#include "config/loading/schema.h"
#include "models/interface/model.h"
#include "models/model_directory.h"
#include "nn/device/device.h"

namespace nmt::test {

/// The model section of a configuration: "d_model: 16, norm: pre"; what is not named has its default.
inline ModelConfig model_config(const std::string& options) {
  return parse_config("{data: {maxlen1: 8, maxlen2: 8}, model: {" + options + "}}", "test").config.model;
}

/// The weights of tests/models/golden/make_golden.py: s cos(0.37 i^2 + start(name)), norms' weights around 1.
inline torch::Tensor formula_weight(const std::string& name, at::IntArrayRef sizes) {
  int64_t sum = 0, place = 0;
  for (const char c : name) sum += ++place * static_cast<unsigned char>(c);
  const double start = static_cast<double>(sum % 1000) / 100;
  const double scale = sizes.size() == 2 ? 1.2 / std::sqrt(static_cast<double>(sizes[1])) : 0.2;
  const double centre = name.ends_with("norm.weight") ? 1 : 0;
  auto values = torch::empty(sizes, torch::kFloat32);
  auto* data = values.mutable_data_ptr<float>();
  for (int64_t i = 0; i < values.numel(); ++i)
    data[i] = static_cast<float>(centre + scale * std::cos(0.37 * static_cast<double>(i * i) + start));
  return values;
}

/// Sets every parameter by the formula; row 0 of the tables of embeddings is zero where the model keeps it so.
inline void set_formula_weights(TranslationModel& model, const ModelConfig& config) {
  const torch::NoGradGuard no_grad;
  for (auto& item : model.named_parameters()) {
    auto values = formula_weight(item.key(), item.value().sizes());
    if (config.zero_padding_embedding && item.key().ends_with("embedding")) values[0].zero_();
    item.value().copy_(values);
  }
}

/// A model on `device` with weights by formula, in evaluation mode.
inline std::shared_ptr<TranslationModel> formula_model(const ModelConfig& config, int64_t source_vocabulary,
                                                       int64_t target_vocabulary, torch::Device device = torch::kCPU) {
  auto model = make_model(config, source_vocabulary, target_vocabulary);
  set_formula_weights(*model, config);
  move_module(*model, device);
  model->eval();
  return model;
}

}  // namespace nmt::test
