#include "convert/marian/marian_folder.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <sstream>
#include <string_view>
#include <utility>

#include "base/error.h"
#include "base/files/file.h"
#include "convert/formats/hugging_face_folder.h"
#include "convert/marian/marian_vocabulary.h"
#include "convert/plain/model_weights.h"
#include "text/codec/language_tags.h"
#include "text/sentencepiece/sentencepiece_tokenizer.h"

namespace nmt::convert {
namespace {

struct Part {
  const char *ours, *hugging_face, *marian_weight, *marian_bias;
};

constexpr Part kSelfAttention[] = {
    {"self_attention.query", "self_attn.q_proj", "self_Wq", "self_bq"},
    {"self_attention.key", "self_attn.k_proj", "self_Wk", "self_bk"},
    {"self_attention.value", "self_attn.v_proj", "self_Wv", "self_bv"},
    {"self_attention.output", "self_attn.out_proj", "self_Wo", "self_bo"},
    {"self_attention_norm", "self_attn_layer_norm", "self_Wo_ln_scale", "self_Wo_ln_bias"}};
constexpr Part kCrossAttention[] = {
    {"cross_attention.query", "encoder_attn.q_proj", "context_Wq", "context_bq"},
    {"cross_attention.key", "encoder_attn.k_proj", "context_Wk", "context_bk"},
    {"cross_attention.value", "encoder_attn.v_proj", "context_Wv", "context_bv"},
    {"cross_attention.output", "encoder_attn.out_proj", "context_Wo", "context_bo"},
    {"cross_attention_norm", "encoder_attn_layer_norm", "context_Wo_ln_scale", "context_Wo_ln_bias"}};
constexpr Part kFeedForward[] = {{"feed_forward.inner", "fc1", "ffn_W1", "ffn_b1"},
                                 {"feed_forward.outer", "fc2", "ffn_W2", "ffn_b2"},
                                 {"feed_forward_norm", "final_layer_norm", "ffn_ffn_ln_scale", "ffn_ffn_ln_bias"}};

/// Every part of every block, in order.
void for_each_part(const ModelConfig& config,
                   const std::function<void(const char* side, int64_t block, const Part& part)>& body) {
  const auto visit = [&](const char* side, int64_t blocks, bool is_decoder) {
    for (int64_t i = 0; i < blocks; ++i) {
      for (const auto& part : kSelfAttention) body(side, i, part);
      if (is_decoder)
        for (const auto& part : kCrossAttention) body(side, i, part);
      for (const auto& part : kFeedForward) body(side, i, part);
    }
  };
  visit("encoder", encoder_blocks(config), false);
  visit("decoder", decoder_blocks(config), true);
}

}  // namespace

std::vector<std::pair<std::string, std::string>> marian_block_names(const ModelConfig& config) {
  std::vector<std::pair<std::string, std::string>> names;
  for_each_part(config, [&](const char* side, int64_t block, const Part& part) {
    for (const char* kind : {"weight", "bias"})
      names.emplace_back(fmt::format("{}_{}.{}.{}", side, block, part.ours, kind),
                         fmt::format("model.{}.layers.{}.{}.{}", side, block, part.hugging_face, kind));
  });
  if (config.norm == Norm::kPre)
    for (const char* side : {"encoder", "decoder"})
      for (const char* kind : {"weight", "bias"})
        names.emplace_back(fmt::format("{}_norm.{}", side, kind), fmt::format("model.{}.layer_norm.{}", side, kind));
  return names;
}

std::vector<std::pair<std::string, std::string>> marian_npz_block_names(const ModelConfig& config) {
  std::vector<std::pair<std::string, std::string>> names;
  for_each_part(config, [&](const char* side, int64_t block, const Part& part) {
    const auto ours = fmt::format("{}_{}.{}.", side, block, part.ours);
    const auto theirs = fmt::format("{}_l{}_", side, block + 1);
    names.emplace_back(ours + "weight", theirs + part.marian_weight);
    names.emplace_back(ours + "bias", theirs + part.marian_bias);
  });
  return names;
}

}  // namespace nmt::convert

namespace fs = std::filesystem;

namespace nmt::convert {
namespace {

/// What a MarianMT model has that ours cannot have, or cannot have there.
void refuse_other_sizes(const HuggingFaceConfig& config) {
  if (config.number("encoder_attention_heads") != config.number("decoder_attention_heads"))
    config.refuse("decoder_attention_heads", "another number than the encoder's");
  if (config.number("encoder_ffn_dim") != config.number("decoder_ffn_dim"))
    config.refuse("decoder_ffn_dim", "another number than the encoder's");
}

void refuse_other_norms(const HuggingFaceConfig& config) {
  for (const char* key : {"normalize_before", "normalize_embedding", "add_final_layer_norm"})
    if (config.flag(key, false)) config.refuse(key, "true");
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

/// Names the tables of each part: without tied weights transformers gives each part one of its own, shared vocabulary
/// or not.
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
  // Copies of a table, and what transformers makes again.
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
  for (const auto& [id, token] : added_tokens(folder.directory)) {
    if (source.ids.contains(token)) continue;
    if (!is_language_code(token) || id >= std::min(source.rows, target.rows))
      refuse_added_token(folder.directory, id, token);
    source.ids[token] = id;
    target.ids.try_emplace(token, id);
  }
  source.specials = specials(config, source.ids, source_path);
  target.specials = specials(config, target.ids, target_path);
}

}  // namespace

MarianFolder open_hugging_face(const fs::path& directory) {
  const HuggingFaceConfig config(directory, {"marian"});
  refuse_other_norms(config);
  refuse_other_sizes(config);
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

namespace {

constexpr const char* kPieces = "sentencepiece.bpe.model";

/// The languages of M2M-100 in the order of their tokens, which stand behind those of vocab.json: no file of a folder
/// names them all. fairseq's list, as transformers has it.
constexpr std::string_view kM2mLanguages =
    "af am ar ast az ba be bg bn br bs ca ceb cs cy da de el en es et fa ff fi fr fy ga gd gl gu ha he hi hr ht hu hy "
    "id ig ilo is it ja jv ka kk km kn ko lb lg ln lo lt lv mg mk ml mn mr ms my ne nl no ns oc or pa pl ps pt ro ru "
    "sd si sk sl so sq sr ss su sv sw ta th tl tn tr uk ur uz vi wo xh yi yo zh zu";
constexpr std::string_view kWmt21Languages = "en ha is ja cs ru zh de";

/// "deu_Latn": ISO 639-3 and ISO 15924.
bool is_nllb_language(std::string_view token) {
  const auto are = [&](size_t from, size_t to, auto is) {
    return std::all_of(token.begin() + from, token.begin() + to, is);
  };
  const auto is_lower = [](char c) { return c >= 'a' && c <= 'z'; };
  return token.size() == 8 && are(0, 3, is_lower) && token[3] == '_' && token[4] >= 'A' && token[4] <= 'Z' &&
         are(5, 8, is_lower);
}

/// Tokens of vocab.json and behind them the languages.
std::map<std::string, int64_t> m2m_tokens(const fs::path& directory, int64_t rows) {
  auto ids = read_vocabulary(directory / "vocab.json", rows);
  const auto codes = hugging_face_language(directory, "language_codes", "m2m100");
  if (codes != "m2m100" && codes != "wmt21")
    throw Error(fmt::format("{}: language_codes is '{}', neither m2m100 nor wmt21: their order is not known",
                            (directory / "tokenizer_config.json").string(), codes));
  std::istringstream languages(std::string(codes == "m2m100" ? kM2mLanguages : kWmt21Languages));
  int64_t next = std::ssize(ids);
  for (std::string language; languages >> language;) ids[language_tag(language)] = next++;
  if (next > rows)
    throw Error(fmt::format("{}: {} tokens and languages, but the model has {} rows: not the vocabulary of this model",
                            (directory / "vocab.json").string(), next, rows));
  return ids;
}

/// Pieces in SentencePiece's order behind fairseq's special tokens; the languages are added tokens.
std::map<std::string, int64_t> nllb_tokens(const fs::path& directory, int64_t rows) {
  std::map<std::string, int64_t> ids{{"<s>", 0}, {"<pad>", 1}, {"</s>", 2}, {"<unk>", 3}};
  const auto path = directory / kPieces;
  int64_t next = 1;  // theirs is one more than SentencePiece's
  for (const auto& piece : read_pieces(read_regular_file(path, kLargestSentencePieceModel), path.string())) {
    if (piece.type != PieceType::kUnknown && piece.type != PieceType::kControl) ids.emplace(piece.text, next);
    ++next;
  }
  for (const auto& [id, token] : added_tokens(directory))
    if (is_nllb_language(token)) {
      ids[language_tag(token)] = id;
      next = std::max(next, id + 1);
    }
  if (next > rows)
    throw Error(fmt::format("{}: {} tokens and languages, but the model has {} rows: not the vocabulary of this model",
                            path.string(), next, rows));
  return ids;
}

/// The language of a token, or "und".
std::string known_language(const std::map<std::string, int64_t>& ids, const std::string& language) {
  return ids.contains(language_tag(language)) ? language : "und";
}

std::string language_of_token(const std::map<std::string, int64_t>& ids, int64_t id) {
  for (const auto& [token, own] : ids)
    if (own == id && is_language_code(token)) return token.substr(2, token.size() - 4);
  return "";
}

void read_m2m_vocabulary(MarianFolder& folder, const HuggingFaceConfig& config) {
  const auto& directory = folder.directory;
  if (!fs::exists(directory / kPieces))
    throw Error(
        fmt::format("{}: {} is missing, which cuts the text: transformers 5 saves NLLB's tokenizer without it; "
                    "take it from the folder of the model that was trained further",
                    directory.string(), kPieces));
  auto& side = folder.source;
  side.rows = config.number("vocab_size");
  const bool is_m2m = fs::exists(directory / "vocab.json");
  side.ids = is_m2m ? m2m_tokens(directory, side.rows) : nllb_tokens(directory, side.rows);
  const auto is_language = [](const auto& one) { return is_language_code(one.first); };
  if (std::ranges::none_of(side.ids, is_language))
    throw Error(
        fmt::format("{}: tokenizer.json and tokenizer_config.json name no language (deu_Latn)", directory.string()));
  for (const auto& [id, token] : added_tokens(directory)) {
    const bool is_told = is_nllb_language(token) || (token.starts_with("__") && token.ends_with("__"));
    if (!is_told && token != "<mask>" && !side.ids.contains(token)) refuse_added_token(directory, id, token);
  }
  side.specials = specials(config, side.ids, directory / (is_m2m ? "vocab.json" : kPieces));
  folder.target = side;
}

}  // namespace

MarianFolder open_m2m(const fs::path& directory) {
  const HuggingFaceConfig config(directory, {"m2m_100"});
  refuse_other_sizes(config);
  WeightFile weights(hugging_face_weights(directory));  // whatever may throw comes first, as above
  auto shape = model_config(config);
  shape.norm = Norm::kPre;
  shape.sinusoid = Sinusoid::kHalfSplitT2t;
  shape.max_positions = config.number("max_position_embeddings", 1, 1 << 20);
  const auto generation = generation_settings(directory, config);
  const auto decoding = hugging_face_decoding(generation);
  const bool tied = config.flag("tie_word_embeddings", true), scaled = config.flag("scale_embedding", false);
  const auto first_position = config.number("pad_token_id", 0) + 1;
  MarianFolder folder{.directory = directory,
                      .format = "Hugging Face M2M-100",
                      .config = shape,
                      .tied = tied,
                      .scaled = scaled,
                      .source = {.model = directory / kPieces},
                      .target = {},
                      .weights = std::move(weights),
                      .decoding = decoding,
                      .tags_both_sides = true,
                      .first_position = first_position};
  read_m2m_vocabulary(folder, config);
  const auto& ids = folder.source.ids;
  folder.source_language = known_language(ids, hugging_face_language(directory, "src_lang", ""));
  const auto forced = language_of_token(ids, generation.number_or("forced_bos_token_id", -1, 0, 1 << 24));
  folder.target_language =
      known_language(ids, forced.empty() ? hugging_face_language(directory, "tgt_lang", "") : forced);
  folder.decoding.ban_unknown = hugging_face_bans(generation, folder.target.specials.unknown);
  const HuggingFaceConfig told("", nlohmann::json{{"forced_bos_token_id", nullptr}});
  folder.warning =
      unread_decoding(forced.empty() ? generation : generation.with(told), {folder.target.specials.unknown});
  name_tensors(folder);
  folder.source.positions = folder.target.positions = "";  // they are computed
  for (const char* side : {"encoder", "decoder"})
    folder.unused.insert(fmt::format("model.{}.embed_positions.weights", side));
  folder.blocks = marian_block_names(folder.config);
  return folder;
}

}  // namespace nmt::convert
