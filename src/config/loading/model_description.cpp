#include "config/loading/model_description.h"

#include <fmt/format.h>

#include "base/error.h"
#include "base/files/file.h"
#include "base/files/strict_json.h"
#include "base/process/program_description.h"
#include "config/loading/schema.h"
#include "config/option_listing.h"

namespace fs = std::filesystem;

namespace nmt {
namespace {

constexpr int kFormatVersion = 2;           // the newest that is read
constexpr int kQuantizedFormatVersion = 2;  // with "weights"; programs of before refuse it
constexpr int kPlainFormatVersion = 1;
constexpr const char* kFileName = "model.json";

int64_t count_of(const nlohmann::json& json, const char* key, const fs::path& path) {
  const auto value = whole_number(json.value(key, nlohmann::json()));
  if (value.value_or(0) < 1) throw Error(fmt::format("{}: damaged: '{}' is no count", path.string(), key));
  return *value;
}

Choice<WeightType> weights_of(const nlohmann::json& json, const fs::path& path) {
  Choice<WeightType> weights = WeightType::kFloat32;
  const auto found = json.value("weights", nlohmann::json("fp32"));
  if (!found.is_string() || !weights.assign(found.get<std::string>()))
    throw Error(fmt::format("{}: damaged: 'weights' is none of fp32, bf16, int8", path.string()));
  return weights;
}

}  // namespace

void require_model_directory(const fs::path& directory) {
  constexpr std::string_view kWhat =
      "a model directory has model.json and model.safetensors in it, as `best` of a run's folder";
  if (directory.empty()) throw Error(fmt::format("the name of a model directory is empty; {}", kWhat));
  if (!fs::exists(directory)) throw Error(fmt::format("{}: no such model directory", directory.string()));
  if (!fs::is_directory(directory))
    throw Error(fmt::format("{}: is a file, not a model directory; {}", directory.string(), kWhat));
  if (fs::exists(directory / kFileName)) return;
  if (const auto best = directory / "best"; fs::exists(best / kFileName))
    throw Error(fmt::format("{}: is the folder of a run; name its model, {}", directory.string(), best.string()));
  if (fs::exists(directory / "config.json"))
    throw Error(
        fmt::format("{0}: has config.json and no {1}: nmt-export --from marian -i {0} -o NEW makes a model "
                    "directory of a folder of transformers",
                    directory.string(), kFileName));
  throw Error(fmt::format("{}: not a model directory ({} is missing); {}", directory.string(), kFileName, kWhat));
}

ModelDescription read_model_description(const fs::path& directory) {
  require_model_directory(directory);
  const auto path = directory / kFileName;
  const auto json = read_json_file(path);
  if (!json.is_object()) throw Error(fmt::format("{}: damaged: not a JSON object", path.string()));
  const auto version = whole_number(json.value("format_version", nlohmann::json()));
  if (!version) throw Error(fmt::format("{}: format_version is missing: not a model of this toolkit", path.string()));
  if (*version > kFormatVersion)
    throw Error(fmt::format("{}: format version {} is newer than this program ({}); update the toolkit", path.string(),
                            *version, kFormatVersion));
  for (const char* key : {"configuration", "tokenizer"})
    if (!json.contains(key) || !json[key].is_object())
      throw Error(fmt::format("{}: damaged: '{}' is missing", path.string(), key));
  const auto summary = json.value("summary", nlohmann::json::object());
  if (!summary.is_object()) throw Error(fmt::format("{}: damaged: 'summary' is no object", path.string()));
  auto config = parse_config(json["configuration"].dump(), path.string()).config;
  if (json.value("architecture", nlohmann::json()) != config.model.architecture.name())
    throw Error(fmt::format("{}: damaged: 'architecture' is not {}, which its configuration says", path.string(),
                            config.model.architecture.name()));
  return {.config = std::move(config),
          .tokenizer = json["tokenizer"],
          .summary = summary,
          .parameters = count_of(json, "parameters", path),
          .source_vocabulary = count_of(json, "source_vocabulary", path),
          .target_vocabulary = count_of(json, "target_vocabulary", path),
          .weights = weights_of(json, path)};
}

void write_model_description(const fs::path& directory, const ModelDescription& description) {
  const bool quantized = description.weights != WeightType::kFloat32;
  nlohmann::ordered_json json = {{"format_version", quantized ? kQuantizedFormatVersion : kPlainFormatVersion},
                                 {"toolkit", "nmt " + version()},
                                 {"architecture", description.config.model.architecture.name()},
                                 {"parameters", description.parameters},
                                 {"source_vocabulary", description.source_vocabulary},
                                 {"target_vocabulary", description.target_vocabulary},
                                 {"tokenizer", description.tokenizer},
                                 {"summary", description.summary},
                                 {"configuration", to_json(description.config)}};
  if (quantized) json["weights"] = description.weights.name();
  write_file_atomically(directory / kFileName, json.dump(2) + "\n");
}

}  // namespace nmt
