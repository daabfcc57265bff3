#include "interop/marian/marian_hugging_face.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <nlohmann/json.hpp>
#include <utility>

#include "base/error.h"
#include "base/files/json_file.h"
#include "interop/marian/marian_names.h"
#include "interop/marian/marian_vocabulary_file.h"

namespace fs = std::filesystem;

namespace nmt::interop {
namespace {

constexpr JsonLimits kSettingsLimits{.bytes = 1 << 20, .depth = 8, .values = 1 << 18};

nlohmann::json read_settings(const fs::path& path) { return read_json_file(path, kSettingsLimits); }

/// config.json, field by field.
class MarianConfig {
 public:
  explicit MarianConfig(const fs::path& path) : path_(path.string()) {
    json_ = read_settings(path);
    if (!json_.is_object()) throw Error(path_ + ": damaged: not a JSON object");
    const auto type = text("model_type", "");
    if (type != "marian") throw Error(fmt::format("{}: model_type is '{}'; only marian can be read", path_, type));
    for (const char* key : {"normalize_before", "normalize_embedding", "add_final_layer_norm"})
      if (flag(key, false)) refuse(key, "true");
    if (number("encoder_attention_heads") != number("decoder_attention_heads"))
      refuse("decoder_attention_heads", "another number than the encoder's");
    if (number("encoder_ffn_dim") != number("decoder_ffn_dim"))
      refuse("decoder_ffn_dim", "another number than the encoder's");
  }

  int64_t number(const char* key, int64_t min = 1, int64_t max = 1 << 24) const {
    const auto value = json_.value(key, nlohmann::json());
    if (!value.is_number_integer() || value.get<int64_t>() < min || value.get<int64_t>() > max)
      throw Error(fmt::format("{}: {} is missing or no whole number from {} to {}", path_, key, min, max));
    return value.get<int64_t>();
  }
  bool has(const char* key) const { return json_.contains(key) && !json_[key].is_null(); }
  bool flag(const char* key, bool absent) const {
    const auto value = json_.value(key, nlohmann::json());
    return value.is_boolean() ? value.get<bool>() : absent;
  }
  std::string text(const char* key, const std::string& absent) const {
    const auto value = json_.value(key, nlohmann::json());
    return value.is_string() ? value.get<std::string>() : absent;
  }
  [[noreturn]] void refuse(const std::string& key, const std::string& value) const {
    throw Error(fmt::format("{}: {} is {}, which this toolkit's Transformer cannot represent", path_, key, value));
  }
  const nlohmann::json& json() const { return json_; }

 private:
  std::string path_;
  nlohmann::json json_;
};

std::string activation(const MarianConfig& config) {
  const auto name = config.text("activation_function", "");
  if (name == "silu") return "swish";
  if (name != "swish" && name != "relu" && name != "gelu") config.refuse("activation_function", "'" + name + "'");
  return name;
}

ModelConfig model_config(const MarianConfig& config) {
  ModelConfig model;
  model.d_model = config.number("d_model");
  model.d_ff = config.number("encoder_ffn_dim");
  model.num_heads = config.number("encoder_attention_heads");
  model.encoder_blocks = config.number("encoder_layers", 1, 1000);
  model.decoder_blocks = config.number("decoder_layers", 1, 1000);
  model.num_blocks = *model.encoder_blocks;
  if (model.d_model % model.num_heads != 0) config.refuse("encoder_attention_heads", "no divisor of d_model");
  model.dropout_rate = 0.1;
  model.norm_epsilon = 1e-5;
  model.activation = activation(config);
  model.sinusoid = Sinusoid::kHalfSplit;
  return model;
}

fs::path weights_path(const fs::path& directory) {
  for (const char* name : {"model.safetensors", "pytorch_model.bin"})
    if (fs::exists(directory / name)) return directory / name;
  throw Error(fmt::format("{}: neither model.safetensors nor pytorch_model.bin is there", directory.string()));
}

/// The first of these that the file has.
std::string first_of(const WeightFile& file, std::initializer_list<const char*> names) {
  for (const char* name : names)
    if (file.has(name)) return name;
  throw Error(fmt::format("{}: tensor {} is missing", file.path(), *names.begin()));
}

/// Who has which table: without tied weights transformers gives each part one of its own, shared vocabulary or not.
void name_tensors(MarianFolder& folder) {
  const auto& file = folder.weights;
  if (folder.tied && folder.shared) {
    folder.source.table = folder.target.table =
        first_of(file, {"model.shared.weight", "model.encoder.embed_tokens.weight", "lm_head.weight"});
  } else {
    folder.source.table = first_of(file, {"model.encoder.embed_tokens.weight", "model.shared.weight"});
    folder.target.table =
        first_of(file, {"model.decoder.embed_tokens.weight", folder.tied ? "lm_head.weight" : "model.shared.weight"});
  }
  if (!folder.tied) folder.output_weight = "lm_head.weight";
  if (file.has("final_logits_bias")) folder.output_bias = "final_logits_bias";
  const std::string source = "model.encoder.embed_positions.weight", target = "model.decoder.embed_positions.weight";
  if (file.has(source) && file.has(target)) {  // transformers computes them, too
    folder.source.positions = source;
    folder.target.positions = target;
  }
}

MarianSpecials specials(const MarianConfig& config, const std::map<std::string, int64_t>& ids, const fs::path& path) {
  const auto unknown = ids.find("<unk>");
  if (unknown == ids.end()) throw Error(fmt::format("{}: <unk> is missing", path.string()));
  const auto pad = config.number("pad_token_id", 0);
  return {.pad = pad,
          .unknown = unknown->second,
          .start = config.has("decoder_start_token_id") ? config.number("decoder_start_token_id", 0) : pad,
          .end = config.number("eos_token_id", 0)};
}

void read_vocabularies(MarianFolder& folder, const MarianConfig& config) {
  auto &source = folder.source, &target = folder.target;
  source.rows = config.number("vocab_size");
  target.rows = config.has("decoder_vocab_size") ? config.number("decoder_vocab_size") : source.rows;
  if (folder.shared && source.rows != target.rows) config.refuse("decoder_vocab_size", "not vocab_size");
  const fs::path source_path = folder.directory / "vocab.json", separate = folder.directory / "target_vocab.json";
  const fs::path target_path = !folder.shared && fs::exists(separate) ? separate : source_path;
  source.ids = read_vocabulary(source_path, source.rows);
  target.ids = target_path == source_path ? source.ids : read_vocabulary(target_path, target.rows);
  source.specials = specials(config, source.ids, source_path);
  target.specials = specials(config, target.ids, target_path);
}

std::string language(const fs::path& directory, const char* key, const std::string& absent) {
  const auto path = directory / "tokenizer_config.json";
  if (!fs::exists(path)) return absent;
  const auto json = read_settings(path);
  if (!json.is_object() || !json.contains(key) || !json[key].is_string()) return absent;
  std::string name = json[key].get<std::string>();
  std::replace_if(
      name.begin(), name.end(), [](unsigned char c) { return !std::isalnum(c) && c != '-' && c != '_'; }, '-');
  return name.empty() ? absent : name;
}

DecodingConfig decoding_config(const fs::path& directory, const MarianConfig& config) {
  auto settings = config.json();
  if (const auto path = directory / "generation_config.json"; fs::exists(path))
    if (const auto json = read_settings(path); json.is_object()) settings.update(json);
  const auto value = [&](const char* key, double absent, double min, double max) {
    const auto found = settings.value(key, nlohmann::json());
    return found.is_number() ? std::clamp(found.get<double>(), min, max) : absent;
  };
  DecodingConfig decoding;
  decoding.beam_size = static_cast<int64_t>(value("num_beams", 4, 1, 100));
  decoding.length_penalty = value("length_penalty", 1, 0, 10);
  decoding.length_penalty_form = LengthPenalty::kSimple;
  decoding.max_length_ratio = 3;
  return decoding;
}

}  // namespace

MarianFolder open_hugging_face(const fs::path& directory) {
  const MarianConfig config(directory / "config.json");
  // GCC 12 destroys members twice where one of a braced list throws: whatever may throw comes first.
  WeightFile weights(weights_path(directory));
  const auto shape = model_config(config);
  const auto decoding = decoding_config(directory, config);
  const auto source_language = language(directory, "source_lang", "src");
  const auto target_language = language(directory, "target_lang", "tgt");
  MarianFolder folder{.directory = directory,
                      .format = "Hugging Face MarianMT",
                      .config = shape,
                      .shared = config.flag("share_encoder_decoder_embeddings", true),
                      .tied = config.flag("tie_word_embeddings", true),
                      .scaled = config.flag("scale_embedding", false),
                      .source = {.model = directory / "source.spm"},
                      .target = {.model = directory / "target.spm"},
                      .weights = std::move(weights),
                      .decoding = decoding,
                      .source_language = source_language,
                      .target_language = target_language};
  read_vocabularies(folder, config);
  name_tensors(folder);
  folder.blocks = marian_block_names(folder.config);
  return folder;
}

}  // namespace nmt::interop
