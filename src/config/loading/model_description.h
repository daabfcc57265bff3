#pragma once

#include <cstdint>
#include <filesystem>

#include "base/files/stored_weights.h"
#include "base/files/strict_json.h"
#include "config/config.h"

namespace nmt {

/// model.json, what a model directory says of itself.
struct ModelDescription {
  Config config;                                      ///< model and decoding sections are those of the directory
  nlohmann::json tokenizer;                           ///< for TextCodec::load
  nlohmann::json summary = nlohmann::json::object();  ///< training summary and scores
  int64_t parameters = 0, source_vocabulary = 0, target_vocabulary = 0;
  Choice<WeightType> weights = WeightType::kFloat32;  ///< in model.safetensors
};

/// Throws Error for what cannot be a model directory, and says what the user may have meant: the model of a run, or one
/// that is still to be imported.
void require_model_directory(const std::filesystem::path& directory);

/// Throws Error as require_model_directory(), and for a damaged, foreign or newer file.
ModelDescription read_model_description(const std::filesystem::path& directory);
/// Throws MachineError.
void write_model_description(const std::filesystem::path& directory, const ModelDescription& description);

}  // namespace nmt
