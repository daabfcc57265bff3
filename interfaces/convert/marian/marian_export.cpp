#include "convert/marian/marian_export.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "base/error.h"
#include "base/files/file.h"
#include "base/files/strict_json.h"
#include "convert/formats/array.h"
#include "convert/marian/marian_folder.h"
#include "convert/plain/ctranslate2.h"
#include "convert/plain/model_weights.h"
#include "text/sentencepiece/sentencepiece_tokenizer.h"

namespace nmt::convert {
namespace {

constexpr int64_t kPositions = 1024;
constexpr int64_t kLongestGenerated = 512;  // tokens, where the model has no limit of its own
constexpr double kNormEpsilon = 1e-5;       // fixed in transformers

/// Place j of Marian's features (all sines, then all cosines) is that of ours.
std::vector<int64_t> feature_order(const ModelConfig& config) {
  const int64_t half = (config.d_model + 1) / 2;
  std::vector<int64_t> order(config.d_model);
  for (int64_t j = 0; j < config.d_model; ++j) {
    const int64_t interleaved = j < half ? 2 * j : 2 * (j - half) + 1;
    order[j] = config.sinusoid == Sinusoid::kInterleaved ? interleaved : j;
  }
  return order;
}

bool writes_features(const std::string& name) {
  return name.ends_with(".output.weight") || name.ends_with(".outer.weight") || name.ends_with(".output.bias") ||
         name.ends_with(".outer.bias") || name.ends_with("norm.weight") || name.ends_with("norm.bias");
}

bool reads_features(const std::string& name) {
  return name.ends_with(".query.weight") || name.ends_with(".key.weight") || name.ends_with(".value.weight") ||
         name.ends_with(".inner.weight");
}

/// A weight of a block by our name, what is left out written out, with its features in our order.
Array block_weight(const PlainModel& model, const std::string& name) {
  const ModelConfig& config = model.config.model;
  if (!model.weights.contains(name)) {
    const bool is_output = name.ends_with(".output.weight");
    return is_output ? identity(config.d_model) : zeros({config.d_model});
  }
  const Array& weight = model.weight(name);
  const bool shared =
      name.find("attention.key.") != std::string::npos || name.find("attention.value.") != std::string::npos;
  return shared ? repeat_heads(weight, config) : weight;
}

Arrays marian_weights(const PlainModel& model) {
  const ModelConfig& config = model.config.model;
  const auto order = feature_order(config);
  Arrays arrays;
  for (const auto& [ours, theirs] : marian_block_names(config)) {
    throw_if_stopped();
    Array weight = block_weight(model, ours);
    if (reads_features(ours)) weight = pick_columns(weight, order);
    if (writes_features(ours)) weight = pick_rows(weight, order);
    arrays[theirs] = std::move(weight);
  }
  const auto table = [&](const char* name) { return pick_columns(model.weight(name), order); };
  if (config.tie_embeddings == TiedEmbeddings::kAll) {
    arrays["model.shared.weight"] = table("embedding");
  } else {
    const bool tied = config.tie_embeddings == TiedEmbeddings::kTarget;
    arrays["model.encoder.embed_tokens.weight"] = table("source_embedding");
    arrays["model.decoder.embed_tokens.weight"] = table("target_embedding");
    arrays["lm_head.weight"] = table(tied ? "target_embedding" : "output_weight");
  }
  const auto positions = sinusoids(Sinusoid::kHalfSplit, kPositions, config.d_model);
  arrays["model.encoder.embed_positions.weight"] = arrays["model.decoder.embed_positions.weight"] = positions;
  const int64_t vocabulary = model.codec.target().size();
  arrays["final_logits_bias"] = config.output_bias ? model.weight("output_bias") : zeros({vocabulary});
  arrays["final_logits_bias"].shape = {1, vocabulary};
  return arrays;
}

nlohmann::ordered_json marian_config(const PlainModel& model) {
  const ModelConfig& c = model.config.model;
  const bool shared = c.tie_embeddings == TiedEmbeddings::kAll;
  return {{"architectures", {"MarianMTModel"}},
          {"model_type", "marian"},
          {"is_encoder_decoder", true},
          {"vocab_size", model.codec.source().size()},
          {"decoder_vocab_size", model.codec.target().size()},
          {"share_encoder_decoder_embeddings", shared},
          {"tie_word_embeddings", c.tie_embeddings != TiedEmbeddings::kNone},
          {"d_model", c.d_model},
          {"encoder_layers", encoder_blocks(c)},
          {"decoder_layers", decoder_blocks(c)},
          {"encoder_attention_heads", c.num_heads},
          {"decoder_attention_heads", c.num_heads},
          {"encoder_ffn_dim", c.d_ff},
          {"decoder_ffn_dim", c.d_ff},
          {"activation_function", c.activation.name()},
          {"dropout", c.dropout_rate},
          {"scale_embedding", true},
          {"max_position_embeddings", kPositions},
          {"static_position_embeddings", true},
          {"normalize_before", false},
          {"normalize_embedding", false},
          {"add_final_layer_norm", false},
          {"pad_token_id", SpecialIds::kPad},
          {"bos_token_id", SpecialIds::kBegin},
          {"eos_token_id", SpecialIds::kEnd},
          {"forced_eos_token_id", SpecialIds::kEnd},
          {"decoder_start_token_id", SpecialIds::kBegin},
          {"dtype", "float32"}};
}

void write_vocabulary(const std::filesystem::path& path, const Tokenizer& tokenizer) {
  nlohmann::ordered_json ids = nlohmann::ordered_json::object();
  for (int32_t id = 0; id < tokenizer.size(); ++id) ids[tokenizer.piece(id)] = id;
  write_json(path, ids);
}

}  // namespace

// What the search of transformers may not choose is what ours may not choose.
nlohmann::ordered_json marian_generation(const DecodingConfig& decoding) {
  using Json = nlohmann::ordered_json;
  Json banned = {Json::array({SpecialIds::kPad}), Json::array({SpecialIds::kBegin})};
  if (decoding.ban_unknown) banned.push_back(Json::array({SpecialIds::kUnknown}));
  Json settings = {{"bad_words_ids", banned},
                   {"pad_token_id", SpecialIds::kPad},
                   {"bos_token_id", SpecialIds::kBegin},
                   {"eos_token_id", SpecialIds::kEnd},
                   {"forced_eos_token_id", SpecialIds::kEnd},
                   {"decoder_start_token_id", SpecialIds::kBegin},
                   {"max_length", kLongestGenerated},
                   {"num_beams", decoding.beam_size},
                   {"length_penalty", decoding.length_penalty}};
  // Theirs counts the start token.
  if (decoding.max_length > 0) settings["max_length"] = std::min(decoding.max_length + 1, kPositions);
  if (decoding.no_repeat_ngram_size > 0) settings["no_repeat_ngram_size"] = decoding.no_repeat_ngram_size;
  if (decoding.repetition_penalty != 1) settings["repetition_penalty"] = decoding.repetition_penalty;
  return settings;
}

std::string marian_warning(const DecodingConfig& decoding) {
  if (decoding.length_penalty_form != LengthPenalty::kPaper || decoding.length_penalty == 0) return "";
  return fmt::format(
      "decoding.length_penalty: {0} is written as it stands, but transformers divides by n^{0}, and this model by "
      "((5 + n) / 6)^{0}: translations may differ",
      decoding.length_penalty);
}

std::string marian_obstacle(const PlainModel& model) {
  const ModelConfig& c = model.config.model;
  if (auto obstacle = plain_transformer_obstacle(c); !obstacle.empty()) return obstacle;
  if (c.norm != Norm::kPost) return "model.norm: " + c.norm.name();
  if (c.norm_form != NormForm::kLayer) return "model.norm_form: " + c.norm_form.name();
  if (c.positions != PositionKind::kSinusoidal) return "model.positions: " + c.positions.name();
  if (c.sinusoid != Sinusoid::kInterleaved && c.sinusoid != Sinusoid::kHalfSplit)
    return "model.sinusoid: " + c.sinusoid.name();
  if (c.activation != FeedForwardActivation::kRelu && c.activation != FeedForwardActivation::kGelu &&
      c.activation != FeedForwardActivation::kSwish)
    return "model.activation: " + c.activation.name();
  if (c.norm_epsilon > kNormEpsilon) return fmt::format("model.norm_epsilon: {}", c.norm_epsilon);
  const auto& options = model.codec.options();
  if (options.lowercase) return "data.lowercase: true";
  if (options.nfkc) return "data.nfkc: true";
  if (options.latin_only) return "data.characters: latin";
  if (options.source_markers != SourceMarkers::kEnd)
    return fmt::format("data.source_markers: {}", name_of(options.source_markers));
  if (options.reverse_source) return "data.reverse_source: true";
  if (!options.source_prefix.empty()) return fmt::format("data.source_prefix: '{}'", options.source_prefix);
  if (!dynamic_cast<const SentencePieceTokenizer*>(&model.codec.source())) return "data.tokenizer: words";
  return "";
}

void write_marian(const std::filesystem::path& directory, const PlainModel& model) {
  if (const auto obstacle = marian_obstacle(model); !obstacle.empty()) {
    const char* way = ctranslate2_obstacle(model).empty() ? "ctranslate2" : "safetensors";
    throw Error(fmt::format("{}: {} has no place in MarianMT; use --to {}", model.name, obstacle, way));
  }
  check_weights(model);
  write_safetensors(directory / "model.safetensors", marian_weights(model));
  write_json(directory / "config.json", marian_config(model));
  write_json(directory / "generation_config.json", marian_generation(model.config.decoding));
  const bool separate = model.config.model.tie_embeddings != TiedEmbeddings::kAll;
  const auto& options = model.codec.options();
  write_json(directory / "tokenizer_config.json", {{"tokenizer_class", "MarianTokenizer"},
                                                   {"source_lang", options.source_language},
                                                   {"target_lang", options.target_language},
                                                   {"separate_vocabs", separate},
                                                   {"bos_token", "<s>"},
                                                   {"eos_token", "</s>"},
                                                   {"unk_token", "<unk>"},
                                                   {"pad_token", "<pad>"},
                                                   {"model_max_length", kPositions}});
  write_vocabulary(directory / "vocab.json", model.codec.source());
  if (separate) write_vocabulary(directory / "target_vocab.json", model.codec.target());
  write_tokenizers(directory, model.codec, "source.spm", "target.spm");
}

}  // namespace nmt::convert
