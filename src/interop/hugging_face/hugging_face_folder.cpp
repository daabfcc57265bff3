#include "interop/hugging_face/hugging_face_folder.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <utility>

#include "base/error.h"
#include "base/files/json_file.h"

namespace fs = std::filesystem;

namespace nmt::interop {
namespace {

constexpr JsonLimits kSettingsLimits{.bytes = 1 << 20, .depth = 8, .values = 1 << 18};

HuggingFaceConfig read_settings(const fs::path& path) { return {path.string(), read_json_file(path, kSettingsLimits)}; }

/// A model of a type that another --from reads.
std::string other_way(const std::string& type) {
  if (type == "marian") return "; use --from marian";
  if (type == "t5" || type == "mt5") return "; use --from t5";
  return "";
}

}  // namespace

HuggingFaceConfig::HuggingFaceConfig(std::string place, nlohmann::json json)
    : path_(std::move(place)), json_(std::move(json)) {
  if (!json_.is_object()) throw Error(path_ + ": damaged: not a JSON object");
}

HuggingFaceConfig::HuggingFaceConfig(const fs::path& directory, const std::vector<std::string>& types)
    : HuggingFaceConfig(read_settings(directory / "config.json")) {
  const auto type = text("model_type", "");
  if (std::ranges::find(types, type) == types.end())
    throw Error(fmt::format("{}: model_type is '{}'; only {} can be read{}", path_, type, fmt::join(types, " and "),
                            other_way(type)));
}

HuggingFaceConfig HuggingFaceConfig::with(const HuggingFaceConfig& others) const {
  auto both = *this;
  for (const auto& [key, value] : others.json_.items()) {
    both.json_[key] = value;
    const auto elsewhere = others.others_.find(key);
    both.others_[key] = elsewhere == others.others_.end() ? others.path_ : elsewhere->second;
  }
  return both;
}

std::string HuggingFaceConfig::place(const std::string& key) const {
  const auto found = others_.find(key);
  return fmt::format("{}: {}", found == others_.end() ? path_ : found->second, key);
}

int64_t HuggingFaceConfig::number(const std::string& key, int64_t min, int64_t max) const {
  const auto value = json_.value(key, nlohmann::json());
  if (!value.is_number_integer() || value.get<int64_t>() < min || value.get<int64_t>() > max)
    throw Error(
        fmt::format("{} is {} whole number from {} to {}", place(key), has(key) ? "no" : "missing or no", min, max));
  return value.get<int64_t>();
}

int64_t HuggingFaceConfig::number_or(const std::string& key, int64_t absent, int64_t min, int64_t max) const {
  return has(key) ? number(key, min, max) : absent;
}

double HuggingFaceConfig::real_or(const std::string& key, double absent, double min, double max) const {
  if (!has(key)) return absent;
  const auto& value = json_[key];
  if (!value.is_number() || !(value.get<double>() >= min) || !(value.get<double>() <= max))
    throw Error(fmt::format("{} is no number from {} to {}", place(key), min, max));
  return value.get<double>();
}

bool HuggingFaceConfig::has(const std::string& key) const { return json_.contains(key) && !json_[key].is_null(); }

bool HuggingFaceConfig::flag(const std::string& key, bool absent) const {
  if (!has(key)) return absent;
  if (!json_[key].is_boolean()) throw Error(place(key) + " is neither true nor false");
  return json_[key].get<bool>();
}

std::string HuggingFaceConfig::text(const std::string& key, const std::string& absent) const {
  if (!has(key)) return absent;
  if (!json_[key].is_string()) throw Error(place(key) + " is no text");
  return json_[key].get<std::string>();
}

nlohmann::json HuggingFaceConfig::list(const std::string& key) const {
  if (!has(key)) return nlohmann::json::array();
  if (!json_[key].is_array()) throw Error(place(key) + " is no list");
  return json_[key];
}

void HuggingFaceConfig::refuse(const std::string& key, const std::string& value) const {
  throw Error(fmt::format("{} is {}, which this toolkit's Transformer cannot represent", place(key), value));
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
  return language_code(read_settings(path).text(key, ""), absent);
}

HuggingFaceConfig generation_settings(const fs::path& directory, const HuggingFaceConfig& config) {
  const auto path = directory / "generation_config.json";
  return fs::exists(path) ? config.with(read_settings(path)) : config;
}

// The limits are those of our options.
DecodingConfig hugging_face_decoding(const HuggingFaceConfig& settings) {
  DecodingConfig decoding;
  decoding.beam_size = settings.number_or("num_beams", 4, 1, 1000);
  decoding.length_penalty = settings.real_or("length_penalty", 1, 0, 10);
  decoding.length_penalty_form = LengthPenalty::kSimple;
  decoding.no_repeat_ngram_size = settings.number_or("no_repeat_ngram_size", 0, 0, 1000);
  decoding.repetition_penalty = settings.real_or("repetition_penalty", 1, 0.01, 100);
  decoding.max_length_ratio = 3;
  const bool never = settings.json().value("early_stopping", nlohmann::json()) == "never";
  if (!never && settings.flag("early_stopping", false)) decoding.stopping = Stopping::kFirst;
  return decoding;
}

bool hugging_face_bans(const HuggingFaceConfig& settings, int64_t id) {
  return std::ranges::any_of(settings.list("bad_words_ids"),
                             [id](const nlohmann::json& word) { return word == nlohmann::json::array({id}); });
}

}  // namespace nmt::interop
