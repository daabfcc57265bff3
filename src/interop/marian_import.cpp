#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/file.h"
#include "interop/export.h"
#include "interop/marian_names.h"
#include "interop/marian_vocabulary.h"
#include "interop/transformer_parts.h"
#include "interop/weight_file.h"
#include "text/sentencepiece_tokenizer.h"

namespace fs = std::filesystem;

namespace nmt::interop {
namespace {

constexpr float kImpossible = -1e9F;  // a logit: probability 0

/// config.json, field by field.
class MarianConfig {
 public:
  explicit MarianConfig(const fs::path& path) : path_(path.string()) {
    if (!fs::is_directory(path.parent_path()))
      throw Error(fmt::format("{}: no such folder", path.parent_path().string()));
    if (!fs::exists(path))
      throw Error(fmt::format("{}: not a Hugging Face model (config.json is missing)", path.parent_path().string()));
    json_ = nlohmann::json::parse(read_file(path), nullptr, /*allow_exceptions=*/false);
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

  int64_t number(const char* key, int64_t least = 1, int64_t most = 1 << 24) const {
    const auto value = json_.value(key, nlohmann::json());
    if (!value.is_number_integer() || value.get<int64_t>() < least || value.get<int64_t>() > most)
      throw Error(fmt::format("{}: {} is missing or no whole number from {} to {}", path_, key, least, most));
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

/// The shape of the network; what depends on the weights comes later.
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
  model.sinusoid = "half_split";
  return model;
}

bool is_close(const Array& a, const Array& b) {
  for (size_t i = 0; i < a.values.size(); ++i)
    if (std::fabs(a.values[i] - b.values[i]) > 1e-5F) return false;
  return true;
}

/// Reads a directory's weights into ours.
class Importer {
 public:
  explicit Importer(const fs::path& directory)
      : directory_(directory),
        json_(directory / "config.json"),
        config_(model_config(json_)),
        file_(weights_path(directory)) {}

  PlainModel read() {
    read_vocabularies();
    for (const auto& [ours, theirs] : marian_block_names(config_))
      weights_[ours] = file_.read(theirs, block_shape(ours));
    read_tables();
    read_output_bias();
    read_positions();
    Config config;
    config.model = config_;
    config.data.source_language = language("source_lang", "src");
    config.data.target_language = language("target_lang", "tgt");
    config.data.vocab_size = target_.rows.size();
    set_decoding(config.decoding);
    TextCodec::Options options{.source_language = config.data.source_language,
                               .target_language = config.data.target_language};
    config.data.joint_vocabulary = shared_;  // a table for both, if with two ways to cut text
    PlainModel model{.config = config,
                     .codec = codec(std::move(options)),
                     .summary = {{"imported_from", "Hugging Face MarianMT"}},
                     .weights = std::move(weights_),
                     .name = directory_.string()};
    check_weights(model);
    return model;
  }

 private:
  static fs::path weights_path(const fs::path& directory) {
    for (const char* name : {"model.safetensors", "pytorch_model.bin"})
      if (fs::exists(directory / name)) return directory / name;
    throw Error(fmt::format("{}: neither model.safetensors nor pytorch_model.bin is there", directory.string()));
  }

  /// The first of these that the file has.
  std::string first_of(std::initializer_list<const char*> names) const {
    for (const char* name : names)
      if (file_.has(name)) return name;
    throw Error(fmt::format("{}: tensor {} is missing", file_.path(), *names.begin()));
  }

  void read_vocabularies() {
    shared_ = json_.flag("share_encoder_decoder_embeddings", true);
    source_rows_ = json_.number("vocab_size");
    target_rows_ = json_.has("decoder_vocab_size") ? json_.number("decoder_vocab_size") : source_rows_;
    if (shared_ && source_rows_ != target_rows_) json_.refuse("decoder_vocab_size", "not vocab_size");
    const bool separate = !shared_ && fs::exists(directory_ / "target_vocab.json");
    const auto source_ids = read_vocabulary(directory_ / "vocab.json", source_rows_);
    const auto target_ids = separate ? read_vocabulary(directory_ / "target_vocab.json", target_rows_) : source_ids;
    const MarianSide source{directory_ / "source.spm", &source_ids}, target{directory_ / "target.spm", &target_ids};
    if (shared_) {
      auto both = renumber({source, target}, source_rows_, specials(source_ids, "vocab.json"));
      source_ = target_ = std::move(both.vocabulary);
      models_ = std::move(both.models);
      return;
    }
    auto first = renumber({source}, source_rows_, specials(source_ids, "vocab.json"));
    auto second = renumber({target}, target_rows_, specials(target_ids, "target_vocab.json"));
    source_ = std::move(first.vocabulary);
    target_ = std::move(second.vocabulary);
    models_ = {std::move(first.models[0]), std::move(second.models[0])};
  }

  MarianSpecials specials(const std::map<std::string, int64_t>& ids, const char* file) const {
    const auto unknown = ids.find("<unk>");
    if (unknown == ids.end()) throw Error(fmt::format("{}: <unk> is missing", (directory_ / file).string()));
    return {.pad = json_.number("pad_token_id", 0),
            .unknown = unknown->second,
            .start = json_.has("decoder_start_token_id") ? json_.number("decoder_start_token_id", 0)
                                                         : json_.number("pad_token_id", 0),
            .end = json_.number("eos_token_id", 0)};
  }

  Shape block_shape(const std::string& name) const {
    const auto shapes = transformer_weights(config_, 0, 0);
    return shapes.at(name);
  }

  /// Embeddings and output layer. Ours are always multiplied by sqrt(model).
  void read_tables() {
    const Shape source_shape{source_rows_, config_.d_model}, target_shape{target_rows_, config_.d_model};
    // Without tied weights transformers gives each part a table of its own, shared vocabulary or not.
    const bool tied = json_.flag("tie_word_embeddings", true);
    const bool one = tied && shared_;
    const auto source_name =
        one ? first_of({"model.shared.weight", "model.encoder.embed_tokens.weight", "lm_head.weight"})
            : first_of({"model.encoder.embed_tokens.weight", "model.shared.weight"});
    const auto target_name =
        one ? source_name
            : first_of({"model.decoder.embed_tokens.weight", tied ? "lm_head.weight" : "model.shared.weight"});
    const bool scaled = json_.flag("scale_embedding", false);
    auto source = pick_rows(file_.read(source_name, source_shape), source_.order());
    if (tied && scaled && shared_) {
      config_.tie_embeddings = "all";
      set_padding_row(source);
      weights_["embedding"] = std::move(source);
      return;
    }
    auto target = pick_rows(file_.read(target_name, target_shape), target_.order());
    config_.tie_embeddings = tied && scaled ? "target" : "none";
    if (config_.tie_embeddings == "none")
      weights_["output_weight"] =
          tied ? target : pick_rows(file_.read("lm_head.weight", target_shape), target_.order());
    if (!scaled)
      for (auto* table : {&source, &target})
        for (float& value : table->values) value /= std::sqrt(static_cast<float>(config_.d_model));
    set_padding_row(source);
    set_padding_row(target);
    weights_["source_embedding"] = std::move(source);
    weights_["target_embedding"] = std::move(target);
  }

  void set_padding_row(const Array& table) {
    const auto row = table.row(SpecialIds::kPad);
    const bool zero = std::all_of(row.begin(), row.end(), [](float value) { return value == 0; });
    config_.zero_padding_embedding = config_.zero_padding_embedding && zero;
  }

  void read_output_bias() {
    Array theirs = zeros({1, target_rows_});
    if (file_.has("final_logits_bias")) theirs = file_.read("final_logits_bias", {1, target_rows_});
    theirs.shape = {target_rows_};
    auto bias = pick_rows(theirs, target_.order());
    for (size_t id = 0; id < target_.rows.size(); ++id)
      if (!target_.rows[id].possible) bias.values[id] = kImpossible;
    config_.output_bias = std::any_of(bias.values.begin(), bias.values.end(), [](float value) { return value != 0; });
    if (config_.output_bias) weights_["output_bias"] = std::move(bias);
  }

  /// Tables that are not the sinusoids are taken as learned ones.
  void read_positions() {
    const char* names[] = {"model.encoder.embed_positions.weight", "model.decoder.embed_positions.weight"};
    if (!file_.has(names[0]) || !file_.has(names[1])) return;  // transformers computes them, too
    const Shape shape{json_.number("max_position_embeddings"), config_.d_model};
    auto source = file_.read(names[0], shape), target = file_.read(names[1], shape);
    const auto expected = sinusoids(config_.sinusoid, shape[0], config_.d_model);
    if (is_close(source, expected) && is_close(target, expected)) return;
    config_.positions = "learned";
    config_.max_positions = shape[0];
    weights_["source_positions.weight"] = std::move(source);
    weights_["target_positions.weight"] = std::move(target);
  }

  TextCodec codec(TextCodec::Options options) const {
    const auto make = [&](size_t i, const char* name) {
      return std::make_shared<const SentencePieceTokenizer>(models_[i], (directory_ / name).string());
    };
    const auto source = make(0, "source.spm");
    return {std::move(options), source, shared_ && models_[0] == models_[1] ? source : make(1, "target.spm")};
  }

  std::string language(const char* key, const char* absent) const {
    const auto path = directory_ / "tokenizer_config.json";
    if (!fs::exists(path)) return absent;
    const auto json = nlohmann::json::parse(read_file(path), nullptr, /*allow_exceptions=*/false);
    if (!json.is_object() || !json.contains(key) || !json[key].is_string()) return absent;
    std::string name = json[key].get<std::string>();
    std::replace_if(
        name.begin(), name.end(), [](unsigned char c) { return !std::isalnum(c) && c != '-' && c != '_'; }, '-');
    return name.empty() ? absent : name;
  }

  void set_decoding(DecodingConfig& decoding) const {
    auto settings = json_.json();
    if (const auto path = directory_ / "generation_config.json"; fs::exists(path))
      if (const auto json = nlohmann::json::parse(read_file(path), nullptr, /*allow_exceptions=*/false);
          json.is_object())
        settings.update(json);
    const auto value = [&](const char* key, double absent, double least, double most) {
      const auto found = settings.value(key, nlohmann::json());
      return found.is_number() ? std::clamp(found.get<double>(), least, most) : absent;
    };
    decoding.beam_size = static_cast<int64_t>(value("num_beams", 4, 1, 100));
    decoding.length_penalty = value("length_penalty", 1, 0, 10);
    decoding.length_penalty_form = "simple";
    decoding.max_length_ratio = 3;
  }

  fs::path directory_;
  MarianConfig json_;
  ModelConfig config_;
  WeightFile file_;
  bool shared_ = true;
  int64_t source_rows_ = 0, target_rows_ = 0;
  MarianVocabulary source_, target_;
  std::vector<std::string> models_;
  Arrays weights_;
};

}  // namespace

PlainModel read_marian(const fs::path& directory) { return Importer(directory).read(); }

}  // namespace nmt::interop
