#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "base/files/strict_json.h"
#include "config/config.h"

namespace nmt::convert {

/// Settings of a model of Hugging Face transformers, field by field: those of config.json, and others over them. A null
/// counts as missing, as it does there. What reads a field throws Error, with the file that it is of, for a value of
/// another kind: transformers refuses it, or takes it for something else.
class HuggingFaceConfig {
 public:
  /// config.json of a folder. Throws Error for a file that is missing or damaged, and for a model_type that is none of
  /// `types`.
  HuggingFaceConfig(const std::filesystem::path& directory, const std::vector<std::string>& types);
  /// Settings from elsewhere; `place` is shown in messages. Throws Error for what is no object.
  HuggingFaceConfig(std::string place, nlohmann::json json);

  /// These settings, and others over them.
  HuggingFaceConfig with(const HuggingFaceConfig& others) const;

  /// Throws Error for a number that is missing or out of range.
  int64_t number(const std::string& key, int64_t min = 1, int64_t max = 1 << 24) const;
  /// The same of a number with a default.
  int64_t number_or(const std::string& key, int64_t absent, int64_t min, int64_t max) const;
  double real_or(const std::string& key, double absent, double min, double max) const;
  bool has(const std::string& key) const;
  bool flag(const std::string& key, bool absent) const;
  std::string text(const std::string& key, const std::string& absent) const;
  /// A list; empty where it is missing.
  nlohmann::json list(const std::string& key) const;
  [[noreturn]] void refuse(const std::string& key, const std::string& value) const;

  const nlohmann::json& json() const { return json_; }
  const std::string& path() const { return path_; }

 private:
  /// "FILE: KEY", of the file that has it.
  std::string place(const std::string& key) const;

  std::string path_;
  nlohmann::json json_;
  std::map<std::string, std::string> others_ = {};  // of fields from elsewhere: where from
};

/// model.safetensors or pytorch_model.bin. Throws Error where neither is there.
std::filesystem::path hugging_face_weights(const std::filesystem::path& directory);

/// A text as the code of a language: what is no letter, digit, '-' or '_' becomes '-'. Empty: `absent`.
std::string language_code(std::string text, const std::string& absent);

/// The code of a language that tokenizer_config.json has under `key`.
std::string hugging_face_language(const std::filesystem::path& directory, const char* key, const std::string& absent);

/// Tokens that were added to a tokenizer, as fine-tuning does, by their ids: those of added_tokens.json, and special
/// ones among them of tokenizer_config.json (added_tokens_decoder) and tokenizer.json (added_tokens).
std::map<int64_t, std::string> added_tokens(const std::filesystem::path& directory);

/// Throws Error for such tokens that an import cannot cut out of a text as transformers does.
[[noreturn]] void refuse_added_token(const std::filesystem::path& directory, int64_t id, const std::string& token);

/// How transformers generates with this model: config.json, and over it generation_config.json.
HuggingFaceConfig generation_settings(const std::filesystem::path& directory, const HuggingFaceConfig& config);

/// What such settings say about the search, as far as our options can say it: num_beams, length_penalty,
/// no_repeat_ngram_size, repetition_penalty, early_stopping, min_length, min_new_tokens, max_new_tokens, groups of
/// beams, sampling. Throws Error for what our options cannot be.
DecodingConfig hugging_face_decoding(const HuggingFaceConfig& settings);

/// The settings that change what transformers writes and that hugging_face_decoding() has no option for, in one line
/// for the log; empty where there is none. bans: tokens that bad_words_ids may have beside those of padding and of the
/// beginning, which we never write.
std::string unread_decoding(const HuggingFaceConfig& settings, std::set<int64_t> bans);

/// Whether bad_words_ids of such settings has the token `id` by itself.
bool hugging_face_bans(const HuggingFaceConfig& settings, int64_t id);

}  // namespace nmt::convert
