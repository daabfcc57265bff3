#include "models/model_directory.h"

#include <fmt/format.h>

#include "base/error.h"
#include "base/file.h"
#include "base/version.h"
#include "config/json.h"
#include "config/schema.h"
#include "models/safetensors.h"

namespace fs = std::filesystem;

namespace nmt {
namespace {

constexpr int kFormatVersion = 1;
constexpr const char* kDescription = "model.json";
constexpr const char* kWeights = "model.safetensors";

nlohmann::json read_description(const fs::path& path) {
  if (!fs::exists(path))
    throw Error(fmt::format("{}: not a model directory ({} is missing)", path.parent_path().string(), kDescription));
  auto description = nlohmann::json::parse(read_file(path), nullptr, /*allow_exceptions=*/false);
  if (!description.is_object()) throw Error(fmt::format("{}: damaged: not a JSON object", path.string()));
  const auto version = description.value("format_version", nlohmann::json());
  if (!version.is_number_integer())
    throw Error(fmt::format("{}: format_version is missing: not a model of this toolkit", path.string()));
  if (version.get<int64_t>() > kFormatVersion)
    throw Error(fmt::format("{}: format version {} is newer than this program ({}); update the toolkit", path.string(),
                            version.get<int64_t>(), kFormatVersion));
  for (const char* key : {"configuration", "tokenizer"})
    if (!description.contains(key) || !description[key].is_object())
      throw Error(fmt::format("{}: damaged: '{}' is missing", path.string(), key));
  return description;
}

}  // namespace

NamedTensors named_parameters(const TranslationModel& model) {
  NamedTensors tensors;
  for (const auto& item : model.named_parameters()) tensors.emplace_back(item.key(), item.value());
  return tensors;
}

void save_model(const fs::path& directory, const TranslationModel& model, const Config& config, const TextCodec& codec,
                const nlohmann::json& summary) {
  nlohmann::ordered_json description = {{"format_version", kFormatVersion},
                                        {"toolkit", "nmt " + version()},
                                        {"architecture", config.model.architecture},
                                        {"parameters", model.parameter_count()},
                                        {"source_vocabulary", codec.source().size()},
                                        {"target_vocabulary", codec.target().size()},
                                        {"tokenizer", codec.save(directory)},
                                        {"summary", summary},
                                        {"configuration", to_json(config)}};
  save_safetensors(directory / kWeights, named_parameters(model));
  write_file_atomically(directory / kDescription, description.dump(2) + "\n");
}

LoadedModel load_model(const fs::path& directory, torch::Device device) {
  if (!fs::is_directory(directory)) throw Error(fmt::format("{}: no such model directory", directory.string()));
  const auto path = directory / kDescription;
  const auto description = read_description(path);
  LoadedModel loaded{.config = parse_config(description["configuration"].dump(), path.string()).config,
                     .codec = TextCodec::load(directory, description["tokenizer"]),
                     .model = nullptr,
                     .summary = description.value("summary", nlohmann::json::object()),
                     .directory = directory};
  loaded.model = make_model(loaded.config.model, loaded.codec.source().size(), loaded.codec.target().size());
  copy_into(named_parameters(*loaded.model), load_safetensors(directory / kWeights), directory / kWeights);
  loaded.model->to(device);
  loaded.model->eval();
  return loaded;
}

}  // namespace nmt
