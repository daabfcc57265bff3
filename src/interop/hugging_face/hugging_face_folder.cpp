#include "interop/hugging_face/hugging_face_folder.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>

#include "base/error.h"
#include "base/files/json_file.h"

namespace fs = std::filesystem;

namespace nmt::interop {
namespace {

constexpr JsonLimits kSettingsLimits{.bytes = 1 << 20, .depth = 8, .values = 1 << 18};

nlohmann::json read_settings(const fs::path& path) { return read_json_file(path, kSettingsLimits); }

/// A model of a type that another --from reads.
std::string other_way(const std::string& type) {
  if (type == "marian") return "; use --from marian";
  if (type == "t5" || type == "mt5") return "; use --from t5";
  return "";
}

}  // namespace

HuggingFaceConfig::HuggingFaceConfig(const fs::path& directory, const std::vector<std::string>& types)
    : path_((directory / "config.json").string()), json_(read_settings(path_)) {
  if (!json_.is_object()) throw Error(path_ + ": damaged: not a JSON object");
  const auto type = text("model_type", "");
  if (std::ranges::find(types, type) == types.end())
    throw Error(fmt::format("{}: model_type is '{}'; only {} can be read{}", path_, type, fmt::join(types, " and "),
                            other_way(type)));
}

int64_t HuggingFaceConfig::number(const std::string& key, int64_t min, int64_t max) const {
  const auto value = json_.value(key, nlohmann::json());
  if (!value.is_number_integer() || value.get<int64_t>() < min || value.get<int64_t>() > max)
    throw Error(fmt::format("{}: {} is missing or no whole number from {} to {}", path_, key, min, max));
  return value.get<int64_t>();
}

int64_t HuggingFaceConfig::number_or(const std::string& key, int64_t absent, int64_t min, int64_t max) const {
  return has(key) ? number(key, min, max) : absent;
}

double HuggingFaceConfig::real_or(const std::string& key, double absent, double min, double max) const {
  if (!has(key)) return absent;
  const auto& value = json_[key];
  if (!value.is_number() || !(value.get<double>() >= min) || !(value.get<double>() <= max))
    throw Error(fmt::format("{}: {} is no number from {} to {}", path_, key, min, max));
  return value.get<double>();
}

bool HuggingFaceConfig::has(const std::string& key) const { return json_.contains(key) && !json_[key].is_null(); }

bool HuggingFaceConfig::flag(const std::string& key, bool absent) const {
  const auto value = json_.value(key, nlohmann::json());
  return value.is_boolean() ? value.get<bool>() : absent;
}

std::string HuggingFaceConfig::text(const std::string& key, const std::string& absent) const {
  const auto value = json_.value(key, nlohmann::json());
  return value.is_string() ? value.get<std::string>() : absent;
}

void HuggingFaceConfig::refuse(const std::string& key, const std::string& value) const {
  throw Error(fmt::format("{}: {} is {}, which this toolkit's Transformer cannot represent", path_, key, value));
}

fs::path hugging_face_weights(const fs::path& directory) {
  for (const char* name : {"model.safetensors", "pytorch_model.bin"})
    if (fs::exists(directory / name)) return directory / name;
  throw Error(fmt::format("{}: neither model.safetensors nor pytorch_model.bin is there", directory.string()));
}

std::string language_code(std::string text, const std::string& absent) {
  std::replace_if(
      text.begin(), text.end(), [](unsigned char c) { return !std::isalnum(c) && c != '-' && c != '_'; }, '-');
  return text.empty() ? absent : text;
}

std::string hugging_face_language(const fs::path& directory, const char* key, const std::string& absent) {
  const auto path = directory / "tokenizer_config.json";
  if (!fs::exists(path)) return absent;
  const auto json = read_settings(path);
  if (!json.is_object() || !json.contains(key) || !json[key].is_string()) return absent;
  return language_code(json[key].get<std::string>(), absent);
}

nlohmann::json generation_settings(const fs::path& directory, const HuggingFaceConfig& config) {
  auto settings = config.json();
  if (const auto path = directory / "generation_config.json"; fs::exists(path))
    if (const auto json = read_settings(path); json.is_object()) settings.update(json);
  return settings;
}

DecodingConfig hugging_face_decoding(const nlohmann::json& settings) {
  const auto value = [&](const char* key, double absent, double min, double max) {
    const auto found = settings.value(key, nlohmann::json());
    return found.is_number() ? std::clamp(found.get<double>(), min, max) : absent;
  };
  DecodingConfig decoding;
  decoding.beam_size = static_cast<int64_t>(value("num_beams", 4, 1, 100));
  decoding.length_penalty = value("length_penalty", 1, 0, 10);
  decoding.length_penalty_form = LengthPenalty::kSimple;
  decoding.no_repeat_ngram_size = static_cast<int64_t>(value("no_repeat_ngram_size", 0, 0, 1000));
  decoding.repetition_penalty = value("repetition_penalty", 1, 0.01, 100);
  decoding.max_length_ratio = 3;
  const auto early = settings.find("early_stopping");
  if (early != settings.end() && *early == true) decoding.stopping = Stopping::kFirst;
  return decoding;
}

bool hugging_face_bans(const nlohmann::json& settings, int64_t id) {
  const auto banned = settings.find("bad_words_ids");
  return banned != settings.end() && banned->is_array() &&
         std::ranges::any_of(*banned, [id](const nlohmann::json& word) { return word == nlohmann::json::array({id}); });
}

}  // namespace nmt::interop
