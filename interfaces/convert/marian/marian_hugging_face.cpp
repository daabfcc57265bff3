#include "convert/marian/marian_hugging_face.h"

#include <fmt/format.h>

#include <utility>

#include "base/error.h"
#include "convert/hugging_face/hugging_face_folder.h"
#include "convert/marian/marian_names.h"
#include "convert/marian/marian_vocabulary_file.h"

namespace fs = std::filesystem;

namespace nmt::convert {
namespace {

/// What a MarianMT model has that ours cannot have.
void refuse_what_does_not_fit(const HuggingFaceConfig& config) {
  for (const char* key : {"normalize_before", "normalize_embedding", "add_final_layer_norm"})
    if (config.flag(key, false)) config.refuse(key, "true");
  if (config.number("encoder_attention_heads") != config.number("decoder_attention_heads"))
    config.refuse("decoder_attention_heads", "another number than the encoder's");
  if (config.number("encoder_ffn_dim") != config.number("decoder_ffn_dim"))
    config.refuse("decoder_ffn_dim", "another number than the encoder's");
}

std::string activation(const HuggingFaceConfig& config) {
  const auto name = config.text("activation_function", "");
  if (name == "silu") return "swish";
  if (name != "swish" && name != "relu" && name != "gelu") config.refuse("activation_function", "'" + name + "'");
  return name;
}

ModelConfig model_config(const HuggingFaceConfig& config) {
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

/// Who has which table: without tied weights transformers gives each part one of its own, shared vocabulary or not.
void name_tensors(MarianFolder& folder) {
  const auto& file = folder.weights;
  if (folder.tied && folder.shared) {
    folder.source.table = folder.target.table =
        file.first_of({"model.shared.weight", "model.encoder.embed_tokens.weight", "lm_head.weight"});
  } else {
    folder.source.table = file.first_of({"model.encoder.embed_tokens.weight", "model.shared.weight"});
    folder.target.table =
        file.first_of({"model.decoder.embed_tokens.weight", folder.tied ? "lm_head.weight" : "model.shared.weight"});
  }
  if (!folder.tied) folder.output_weight = "lm_head.weight";
  if (file.has("final_logits_bias")) folder.output_bias = "final_logits_bias";
  const std::string source = "model.encoder.embed_positions.weight", target = "model.decoder.embed_positions.weight";
  // Copies of a table, and what transformers makes anew.
  folder.unused = {"model.shared.weight",
                   "model.encoder.embed_tokens.weight",
                   "model.decoder.embed_tokens.weight",
                   "lm_head.weight",
                   "final_logits_bias",
                   source,
                   target};
  if (file.has(source) && file.has(target)) {  // transformers computes them, too
    folder.source.positions = source;
    folder.target.positions = target;
  }
}

MarianSpecials specials(const HuggingFaceConfig& config, const std::map<std::string, int64_t>& ids,
                        const fs::path& path) {
  const auto unknown = ids.find("<unk>");
  if (unknown == ids.end()) throw Error(fmt::format("{}: <unk> is missing", path.string()));
  const auto pad = config.number("pad_token_id", 0);
  return {.pad = pad,
          .unknown = unknown->second,
          .start = config.has("decoder_start_token_id") ? config.number("decoder_start_token_id", 0) : pad,
          .end = config.number("eos_token_id", 0)};
}

void read_vocabularies(MarianFolder& folder, const HuggingFaceConfig& config) {
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

}  // namespace

MarianFolder open_hugging_face(const fs::path& directory) {
  const HuggingFaceConfig config(directory, {"marian"});
  refuse_what_does_not_fit(config);
  // GCC 12 destroys members twice where one of a braced list throws: whatever may throw comes first.
  WeightFile weights(hugging_face_weights(directory));
  const auto shape = model_config(config);
  const auto generation = generation_settings(directory, config);
  const auto decoding = hugging_face_decoding(generation);
  const auto source_language = hugging_face_language(directory, "source_lang", "src");
  const auto target_language = hugging_face_language(directory, "target_lang", "tgt");
  const bool shared = config.flag("share_encoder_decoder_embeddings", true);
  const bool tied = config.flag("tie_word_embeddings", true), scaled = config.flag("scale_embedding", false);
  MarianFolder folder{.directory = directory,
                      .format = "Hugging Face MarianMT",
                      .config = shape,
                      .shared = shared,
                      .tied = tied,
                      .scaled = scaled,
                      .source = {.model = directory / "source.spm"},
                      .target = {.model = directory / "target.spm"},
                      .weights = std::move(weights),
                      .decoding = decoding,
                      .source_language = source_language,
                      .target_language = target_language};
  read_vocabularies(folder, config);
  folder.decoding.ban_unknown = hugging_face_bans(generation, folder.target.specials.unknown);
  folder.warning = unread_decoding(generation, {folder.target.specials.unknown});
  name_tensors(folder);
  folder.blocks = marian_block_names(folder.config);
  return folder;
}

}  // namespace nmt::convert
