#include "convert/marian/marian_npz.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/error.h"
#include "base/files/file.h"
#include "convert/marian/marian_folder.h"
#include "convert/marian/marian_vocabulary.h"

namespace nmt::convert {
namespace {

constexpr size_t kLongest = 1 << 16;  // bytes; a tree of YAML is far larger than its text

}  // namespace

MarianOptions::MarianOptions(const std::string& yaml, std::string name) : name_(std::move(name)) {
  if (yaml.size() > kLongest) throw Error(fmt::format("{}: {} bytes are too many for options", name_, yaml.size()));
  try {
    options_ = YAML::Load(yaml);
  } catch (const YAML::Exception& error) {
    throw Error(fmt::format("{}:{}: damaged: {}", name_, error.mark.line + 1, error.msg));
  }
  if (!options_.IsMap()) throw Error(name_ + ": damaged: not a map of options");
}

bool MarianOptions::has(const char* key) const { return options_[key].IsDefined(); }

template <typename T>
T MarianOptions::value(const char* key, const T& absent) const {
  const YAML::Node node = options_[key];
  if (!node.IsDefined() || node.IsNull()) return absent;
  try {
    return node.as<T>();
  } catch (const YAML::Exception&) {
    throw Error(fmt::format("{}: {}: a value of the wrong kind", name_, key));
  }
}

std::string MarianOptions::text(const char* key, const std::string& absent) const { return value(key, absent); }
bool MarianOptions::flag(const char* key, bool absent) const { return value(key, absent); }
double MarianOptions::real(const char* key, double absent) const { return value(key, absent); }
std::vector<std::string> MarianOptions::list(const char* key) const { return value(key, std::vector<std::string>()); }

int64_t MarianOptions::number(const char* key, int64_t min, int64_t max) const {
  const auto found = has(key) ? value(key, min) : min - 1;
  if (found < min || found > max)
    throw Error(fmt::format("{}: {} is missing or no whole number from {} to {}", name_, key, min, max));
  return found;
}

void MarianOptions::refuse(const std::string& key, const std::string& value) const {
  throw Error(fmt::format("{}: {} is {}, which this toolkit's Transformer cannot represent", name_, key, value));
}

}  // namespace nmt::convert

namespace fs = std::filesystem;

namespace nmt::convert {
namespace {

constexpr const char* kOptions = "special:model.yml";

/// A file beside decoder.yml that it names.
fs::path file_beside(const MarianOptions& decoder, const fs::path& directory, const std::string& name) {
  const fs::path file(name);
  if (name.empty() || file.is_absolute() || std::find(file.begin(), file.end(), "..") != file.end())
    throw Error(fmt::format("{}: '{}' leaves the folder; name the file beside it", decoder.name(), name));
  if (!fs::exists(directory / file))
    throw Error(fmt::format("{}: {} is missing", decoder.name(), (directory / file).string()));
  return directory / file;
}

fs::path weights_path(const MarianOptions& decoder, const fs::path& directory) {
  const auto models = decoder.list("models");
  if (models.size() != 1) decoder.refuse("models", fmt::format("a list of {}", models.size()));
  const auto path = file_beside(decoder, directory, models[0]);
  if (path.extension() != ".npz") decoder.refuse("models", fmt::format("'{}' (only .npz can be read)", models[0]));
  return path;
}

fs::path sentencepiece_path(const fs::path& directory, const std::string& side) {
  const auto path = directory / (side + ".spm");
  if (!fs::exists(path) && fs::exists(directory / (side + ".bpe")))
    throw Error(fmt::format("{}: cut by subword-nmt ({}.bpe); only models with SentencePiece can be read",
                            directory.string(), side));
  return path;
}

MarianOptions model_options(const WeightFile& file) {
  const auto& stored = file.stored(kOptions);
  if (stored.type != "I8" && stored.type != "U8") throw Error(fmt::format("{}: {} is no text", file.path(), kOptions));
  std::string text(reinterpret_cast<const char*>(stored.data.data()), stored.data.size());
  text.erase(std::find(text.begin(), text.end(), '\0'), text.end());
  return {text, file.path() + ": " + kOptions};
}

/// Dropout does nothing where a model translates.
std::string without_dropout(std::string operations) {
  std::erase(operations, 'd');
  return operations;
}

/// Everything that changes what is computed, and that tensors alone would not show. What an older Marian does not write
/// has the value that it had before there was an option.
void check_architecture(const MarianOptions& options) {
  const auto expect = [&](const char* key, const std::string& value) {
    if (const auto found = options.text(key, value); found != value) options.refuse(key, "'" + found + "'");
  };
  const auto expect_operations = [&](const char* key, const std::string& value) {
    if (const auto found = options.text(key, value); without_dropout(found) != value)
      options.refuse(key, "'" + found + "'");
  };
  const auto expect_none = [&](const char* key) {
    if (options.flag(key, false)) options.refuse(key, "true");
  };
  expect("type", "transformer");
  expect("transformer-decoder-autoreg", "self-attention");
  expect("transformer-ffn-depth", "2");
  const auto inner = options.text("transformer-dim-ffn", "");
  for (const auto& [key, encoder] :
       {std::pair{"transformer-decoder-ffn-depth", std::string("2")}, std::pair{"transformer-decoder-dim-ffn", inner}})
    if (const auto found = options.text(key, "0"); found != "0" && found != encoder)  // 0: as in the encoder
      options.refuse(key, "another number than the encoder's");
  expect_operations("transformer-preprocess", "");
  expect_operations("transformer-postprocess", "an");
  expect_operations("transformer-postprocess-emb", "");
  expect_operations("transformer-postprocess-top", "");
  for (const char* key :
       {"right-left", "transformer-no-projection", "transformer-no-bias", "transformer-no-affine", "transformer-pool",
        "transformer-train-position-embeddings", "transformer-train-positions", "ulr"})
    expect_none(key);
  if (!options.list("transformer-tied-layers").empty()) options.refuse("transformer-tied-layers", "not empty");
  if (options.text("lemma-dim-emb", "0") != "0") options.refuse("lemma-dim-emb", "not 0 (a factored vocabulary)");
}

ModelConfig model_config(const MarianOptions& options) {
  check_architecture(options);
  ModelConfig model;
  model.d_model = options.number("dim-emb");
  model.d_ff = options.number("transformer-dim-ffn");
  model.num_heads = options.number("transformer-heads");
  model.encoder_blocks = options.number("enc-depth", 1, 1000);
  model.decoder_blocks = options.number("dec-depth", 1, 1000);
  model.num_blocks = *model.encoder_blocks;
  if (model.d_model % model.num_heads != 0) options.refuse("transformer-heads", "no divisor of dim-emb");
  model.dropout_rate = 0.1;
  model.norm_epsilon = 1e-6;
  // Marian's gelu is x sigmoid(1.702 x).
  const auto activation = options.text("transformer-ffn-activation", "swish");
  if (activation != "swish" && activation != "relu")
    options.refuse("transformer-ffn-activation", "'" + activation + "'");
  model.activation = activation;
  model.sinusoid = Sinusoid::kHalfSplitT2t;
  return model;
}

/// Which tensor is what, with matrices as [out, in].
void name_tensors(MarianFolder& folder, const MarianOptions& options) {
  auto& file = folder.weights;
  const bool all = options.flag("tied-embeddings-all", false);
  folder.shared = all || options.flag("tied-embeddings-src", false);
  folder.tied = all || options.flag("tied-embeddings", false);
  folder.source.table = folder.shared ? "Wemb" : "encoder_Wemb";
  folder.target.table = folder.shared ? "Wemb" : "decoder_Wemb";
  folder.source.rows = file.rows(folder.source.table);
  folder.target.rows = file.rows(folder.target.table);
  if (!folder.tied) {
    folder.output_weight = "decoder_ff_logit_out_Wt";
    if (!file.has(folder.output_weight)) {
      folder.output_weight = "decoder_ff_logit_out_W";
      file.transpose(folder.output_weight);
    }
  }
  if (!options.flag("output-omit-bias", false)) folder.output_bias = "decoder_ff_logit_out_b";
  for (const auto& [name, array] : file.arrays())
    if (name.starts_with("special:")) folder.unused.insert(name);
  folder.blocks = marian_npz_block_names(folder.config);
  for (const auto& [ours, theirs] : folder.blocks)
    if (ours.ends_with(".weight") && !ours.ends_with("_norm.weight")) file.transpose(theirs);
}

void read_vocabularies(MarianFolder& folder, const MarianOptions& decoder) {
  const auto names = decoder.list("vocabs");
  if (names.size() != 2) decoder.refuse("vocabs", fmt::format("a list of {}", names.size()));
  if (folder.shared && names[0] != names[1]) decoder.refuse("vocabs", "two files for one table of embeddings");
  for (auto* side : {&folder.source, &folder.target}) {
    const auto path = file_beside(decoder, folder.directory, names[side == &folder.target]);
    side->ids = read_vocabulary(path, side->rows);
    if (std::ssize(side->ids) != side->rows)
      throw Error(fmt::format("{}: damaged: {} tokens, but {} has {} rows; fetch the file again", path.string(),
                              side->ids.size(), side->table, side->rows));
    for (const char* token : {"<unk>", "</s>"})
      if (!side->ids.contains(token)) throw Error(fmt::format("{}: {} is missing", path.string(), token));
    // Marian's decoder starts from a vector of zeros, and its padding is a mask: neither has a row.
    side->specials = {.pad = -1, .unknown = side->ids.at("<unk>"), .start = -1, .end = side->ids.at("</s>")};
  }
}

DecodingConfig decoding_config(const MarianOptions& decoder) {
  if (const double penalty = decoder.real("word-penalty", 0); penalty != 0)
    decoder.refuse("word-penalty", fmt::format("{}", penalty));
  DecodingConfig decoding;
  decoding.beam_size = decoder.has("beam-size") ? decoder.number("beam-size", 1, 1000) : 12;
  decoding.length_penalty = decoder.real("normalize", 0);
  if (!(decoding.length_penalty >= 0 && decoding.length_penalty <= 10))
    decoder.refuse("normalize", fmt::format("{} (not from 0 to 10)", decoding.length_penalty));
  decoding.length_penalty_form = LengthPenalty::kSimple;
  decoding.max_length_ratio = 3;
  decoding.ban_unknown = !decoder.flag("allow-unk", false);
  return decoding;
}

}  // namespace

MarianFolder open_marian_npz(const fs::path& directory) {
  const auto path = directory / "decoder.yml";
  const MarianOptions decoder(read_regular_file(path, kLongest), path.string());
  // GCC 12 destroys members twice where one of a braced list throws: whatever may throw comes first.
  WeightFile weights(weights_path(decoder, directory));
  const auto options = model_options(weights);
  const auto config = model_config(options);
  const auto decoding = decoding_config(decoder);
  const auto source = sentencepiece_path(directory, "source"), target = sentencepiece_path(directory, "target");
  MarianFolder folder{.directory = directory,
                      .format = "Marian",
                      .config = config,
                      .source = {.model = source},
                      .target = {.model = target},
                      .weights = std::move(weights),
                      .decoding = decoding};
  name_tensors(folder, options);
  read_vocabularies(folder, decoder);
  return folder;
}

}  // namespace nmt::convert
