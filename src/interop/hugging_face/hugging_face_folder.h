#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "base/strict_json.h"
#include "config/config.h"

namespace nmt::interop {

/// config.json of a model of Hugging Face transformers, field by field. A field of another type counts as missing.
class HuggingFaceConfig {
 public:
  /// Throws Error for a file that is missing or damaged, and for a model_type that is none of `types`.
  HuggingFaceConfig(const std::filesystem::path& directory, const std::vector<std::string>& types);

  /// Throws Error for a number that is missing or out of range.
  int64_t number(const std::string& key, int64_t min = 1, int64_t max = 1 << 24) const;
  /// The same of a number with a default.
  int64_t number_or(const std::string& key, int64_t absent, int64_t min, int64_t max) const;
  double real_or(const std::string& key, double absent, double min, double max) const;
  bool has(const std::string& key) const;
  bool flag(const std::string& key, bool absent) const;
  std::string text(const std::string& key, const std::string& absent) const;
  [[noreturn]] void refuse(const std::string& key, const std::string& value) const;

  const nlohmann::json& json() const { return json_; }
  const std::string& path() const { return path_; }

 private:
  std::string path_;
  nlohmann::json json_;
};

/// model.safetensors or pytorch_model.bin. Throws Error where neither is there.
std::filesystem::path hugging_face_weights(const std::filesystem::path& directory);

/// A text as the code of a language: what is no letter, digit, '-' or '_' becomes '-'. Empty: `absent`.
std::string language_code(std::string text, const std::string& absent);

/// The code of a language that tokenizer_config.json has under `key`.
std::string hugging_face_language(const std::filesystem::path& directory, const char* key, const std::string& absent);

/// How transformers generates with this model: config.json, and over it generation_config.json.
nlohmann::json generation_settings(const std::filesystem::path& directory, const HuggingFaceConfig& config);

/// num_beams, length_penalty, no_repeat_ngram_size, repetition_penalty and early_stopping of such settings, kept within
/// the limits of our options.
DecodingConfig hugging_face_decoding(const nlohmann::json& settings);

/// Whether bad_words_ids of such settings has the token `id` by itself.
bool hugging_face_bans(const nlohmann::json& settings, int64_t id);

}  // namespace nmt::interop
