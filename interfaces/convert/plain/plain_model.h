#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "base/files/strict_json.h"
#include "config/loading/model_description.h"
#include "convert/formats/array.h"
#include "text/codec/codec.h"

namespace nmt::convert {

/// A model directory's contents without torch: configuration, tokenizers, weights under their names.
struct PlainModel {
  Config config;
  TextCodec codec;
  nlohmann::json summary = nlohmann::json::object();
  Arrays weights;
  std::string name;                                  ///< shown in messages: where it comes from
  Choice<WeightType> stored = WeightType::kFloat32;  ///< how the directory holds them; here they are float32
  std::vector<std::string> warnings = {};            ///< what an import could not take along, a line each
  int64_t parameters = 0;                            ///< numbers in the weights, as the directory says; 0: it does not

  /// Throws Error where it is missing.
  const Array& weight(const std::string& key) const;
  int64_t numbers() const;  ///< in all weights together
};

/// Throws Error for a missing or damaged directory, Stopped. Weights of a quantized one are what products see of them.
PlainModel read_plain_model(const std::filesystem::path& directory);
/// Adds an adapter to the model of this directory (base/files/adapter.h). Throws Error for one of another model.
void add_adapter(PlainModel& model, const std::filesystem::path& directory, const std::filesystem::path& file);
/// Writes a model directory's files into an existing folder.
void write_plain_model(const std::filesystem::path& directory, const PlainModel& model);

/// Copies a model directory's lexicon, where it has one.
void copy_lexicon(const std::filesystem::path& from, const std::filesystem::path& to);

/// A safetensors file. Throws MachineError, Stopped.
void write_safetensors(const std::filesystem::path& path, const Arrays& arrays);
/// What is not UTF-8 becomes U+FFFD. Throws MachineError.
void write_json(const std::filesystem::path& path, const nlohmann::ordered_json& json);
/// The tokenizers' files under other names, for toolkits that take SentencePiece models; none for word vocabularies.
void write_tokenizers(const std::filesystem::path& directory, const TextCodec& codec, const std::string& source_name,
                      const std::string& target_name);

/// The names that the files of a model may have, in each of the formats; those of vocabularies of words as they stand
/// in `folder`.
std::vector<std::string> names_of_model_files(const std::filesystem::path& folder);

}  // namespace nmt::convert
