#include "convert/t5/t5_import.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <set>
#include <utility>

#include "base/error.h"
#include "base/files/file.h"
#include "convert/formats/hugging_face_folder.h"
#include "convert/formats/weight_file.h"
#include "convert/plain/model_weights.h"
#include "convert/t5/t5_parts.h"
#include "text/sentencepiece/sentencepiece_tokenizer.h"

namespace fs = std::filesystem;

namespace nmt::convert {
namespace {

constexpr float kNeverChosen = -1e9F;  // a logit: probability 0
constexpr const char* kVocabulary = "spiece.model";

bool is_mt5(const HuggingFaceConfig& config) { return config.text("model_type", "") == "mt5"; }

/// feed_forward_proj: "relu", or "gated-" and the function of the gate. "gated-gelu" alone means GELU by tanh.
FeedForwardActivation t5_activation(const HuggingFaceConfig& config) {
  static const std::map<std::string, FeedForwardActivation> kKnown{
      {"relu", FeedForwardActivation::kRelu},
      {"gelu", FeedForwardActivation::kGelu},
      {"gelu_new", FeedForwardActivation::kGeluTanh},
      {"silu", FeedForwardActivation::kSwish},
      {"swish", FeedForwardActivation::kSwish},
      {"gated-gelu", FeedForwardActivation::kGegluTanh},
      {"gated-gelu_new", FeedForwardActivation::kGegluTanh},
      {"gated-silu", FeedForwardActivation::kSwiglu},
      {"gated-swish", FeedForwardActivation::kSwiglu}};
  const auto name = config.text("feed_forward_proj", is_mt5(config) ? "gated-gelu" : "relu");
  const auto found = kKnown.find(name);
  if (found == kKnown.end()) config.refuse("feed_forward_proj", "'" + name + "'");
  return found->second;
}

/// Sizes of T5's heads, which ours fill: the size of a head is d_model / num_heads.
struct T5Heads {
  int64_t count = 0, size = 0;          ///< theirs
  int64_t our_count = 0, our_size = 0;  ///< ours, the least number that can hold theirs

  /// Which of T5's features of all heads ours are; -1: none, zeros.
  std::vector<int64_t> features() const {
    std::vector<int64_t> order;
    for (int64_t head = 0; head < our_count; ++head)
      for (int64_t i = 0; i < our_size; ++i) order.push_back(head < count && i < size ? head * size + i : -1);
    return order;
  }
  /// The same of heads.
  std::vector<int64_t> heads() const {
    std::vector<int64_t> order;
    for (int64_t head = 0; head < our_count; ++head) order.push_back(head < count ? head : -1);
    return order;
  }
};

/// A head of zeros attends to everything alike and adds nothing; so does the rest of a head that is too large.
T5Heads t5_heads(const HuggingFaceConfig& config, int64_t model) {
  constexpr int64_t kMostFilling = 4;  // so many times what the file has; published models need 1.4
  T5Heads heads{.count = config.number("num_heads", 1, 1024), .size = config.number("d_kv", 1, 65536)};
  if (heads.count * heads.size * kMostFilling < model)
    config.refuse("d_kv", fmt::format("{}: {} heads of this size are less than a quarter of d_model {}", heads.size,
                                      heads.count, model));
  for (int64_t count = heads.count; count <= std::min<int64_t>(model, 1024); ++count) {
    if (model % count != 0 || model / count < heads.size) continue;
    heads.our_count = count;
    heads.our_size = model / count;
    return heads;
  }
  config.refuse("d_kv",
                fmt::format("{}: {} heads of this size do not fit into d_model {}", heads.size, heads.count, model));
}

ModelConfig t5_model(const HuggingFaceConfig& config) {
  ModelConfig model;
  model.d_model = config.number("d_model", 1, 65536);
  model.d_ff = config.number("d_ff", 1, 1048576);
  model.num_heads = t5_heads(config, model.d_model).our_count;
  model.encoder_blocks = config.number("num_layers", 1, 1000);
  model.decoder_blocks = config.number_or("num_decoder_layers", *model.encoder_blocks, 1, 1000);
  model.num_blocks = *model.encoder_blocks;
  model.dropout_rate = config.real_or("dropout_rate", 0.1, 0, 0.99);
  model.norm = Norm::kPre;
  model.norm_form = NormForm::kRms;
  model.norm_epsilon = config.real_or("layer_norm_epsilon", 1e-6, 1e-20, 1);
  model.activation = t5_activation(config);
  model.positions = PositionKind::kT5;
  model.relative_buckets = config.number_or("relative_attention_num_buckets", 32, 4, 4096);
  model.max_relative_distance = config.number_or("relative_attention_max_distance", 128, 1, 100000);
  model.attention_bias = false;
  return model;
}

T5Specials t5_specials(const HuggingFaceConfig& config, const HuggingFaceConfig& generation) {
  T5Specials specials{.pad = config.number_or("pad_token_id", 0, 0, 1 << 24),
                      .end = config.number_or("eos_token_id", 1, 0, 1 << 24)};
  specials.start = generation.number_or("decoder_start_token_id", specials.pad, 0, 1 << 24);
  return specials;
}

/// What transformers' generate() does by default, with the settings of the task.
DecodingConfig t5_decoding(const HuggingFaceConfig& generation, const T5Task& task) {
  auto decoding = hugging_face_decoding(generation.with(task.settings));
  // Theirs counts the start token. Without a task it is that of a demonstration, 20.
  if (decoding.max_length == 0) decoding.max_length = task.settings.number_or("max_length", 1, 2, 100001) - 1;
  if (decoding.max_length > 0) decoding.min_length = std::min(decoding.min_length, decoding.max_length - 1);
  return decoding;
}

/// Reads a folder's weights into ours.
class T5Importer {
 public:
  T5Importer(const fs::path& directory, const T5Choice& choice)
      : directory_(directory),
        settings_(directory, {"t5", "mt5"}),
        model_(t5_model(settings_)),
        heads_(t5_heads(settings_, model_.d_model)),
        rows_(settings_.number("vocab_size")),
        task_(choose_t5_task(settings_, choice)),
        generation_(generation_settings(directory, settings_)),
        weights_of_(hugging_face_weights(directory)) {}

  PlainModel read() {
    const auto list = t5_weights(model_);
    const auto shapes = transformer_weights(model_, 0, 0);
    for (const auto& weight : list) weights_of_.check(weight.theirs, their_shape(weight, shapes.at(weight.ours)));
    name_tables();
    refuse_unknown_weights(list);
    refuse_added_tokens();
    vocabulary_ = read_t5_vocabulary(directory_ / kVocabulary, rows_, t5_specials(settings_, generation_));
    for (const auto& weight : list) weights_[weight.ours] = read(weight, shapes.at(weight.ours));
    for (const auto& [name, shape] : shapes)  // T5 has no biases
      if (name.ends_with(".bias")) weights_[name] = zeros(shape);
    read_tables();
    return model();
  }

 private:
  /// The shape in the T5 file, which has only T5's own heads of ours.
  Shape their_shape(const T5Weight& weight, Shape shape) const {
    const int64_t inner = heads_.count * heads_.size;
    if (weight.role == T5Role::kHeads || weight.role == T5Role::kCrossQuery) shape[0] = inner;
    if (weight.role == T5Role::kHeadsIn) shape[1] = inner;
    if (weight.role == T5Role::kBuckets) shape[1] = heads_.count;
    return shape;
  }

  Array read(const T5Weight& weight, const Shape& ours) {
    auto array = weights_of_.read(weight.theirs, their_shape(weight, ours));
    switch (weight.role) {
      case T5Role::kPlain:
        return array;
      case T5Role::kHeads:
        return pick_rows(array, heads_.features());
      case T5Role::kCrossQuery:  // our positions `t5` leave out the division, as T5 does everywhere
        for (float& value : array.values) value *= std::sqrt(static_cast<float>(heads_.our_size));
        return pick_rows(array, heads_.features());
      case T5Role::kHeadsIn:
        return pick_columns(array, heads_.features());
      case T5Role::kBuckets:
        return pick_columns(array, heads_.heads());
    }
    return array;
  }

  void name_tables() {
    const auto& file = weights_of_;
    source_ = file.first_of(
        {"encoder.embed_tokens.weight", "shared.weight", "decoder.embed_tokens.weight", "lm_head.weight"});
    target_ = file.first_of(
        {"decoder.embed_tokens.weight", "shared.weight", "encoder.embed_tokens.weight", "lm_head.weight"});
    output_ = file.has("lm_head.weight") ? "lm_head.weight" : target_;
    for (const auto& name : {source_, target_, output_}) file.check(name, {rows_, model_.d_model});
  }

  void refuse_unknown_weights(const std::vector<T5Weight>& list) const {
    // Copies of a table, and what the first T5s were published with; transformers does not read it either.
    std::set<std::string> known{"shared.weight", "encoder.embed_tokens.weight", "decoder.embed_tokens.weight",
                                "lm_head.weight",
                                "decoder.block.0.layer.1.EncDecAttention.relative_attention_bias.weight"};
    for (const auto& weight : list) known.insert(weight.theirs);
    weights_of_.refuse_others(known);
  }

  /// Pieces and sentinels are added tokens, too.
  void refuse_added_tokens() const {
    const auto pieces =
        read_pieces(read_regular_file(directory_ / kVocabulary, kLargestSentencePieceModel), kVocabulary);
    std::set<std::string> known;
    for (const auto& piece : pieces) known.insert(piece.text);
    for (const auto& [id, token] : added_tokens(directory_))
      if (!known.contains(token) && !token.starts_with("<extra_id_")) refuse_added_token(directory_, id, token);
  }

  /// Embeddings and output layer. T5's embeddings enter as they stand and ours are multiplied by sqrt(model); its first
  /// version divides the decoder's output by sqrt(model). So where one table serves all, it is ours divided once.
  void read_tables() {
    const auto read_one = [&](const std::string& name) { return weights_of_.read(name, {rows_, model_.d_model}); };
    const auto ours = [&](Array table, bool divided) {
      if (divided)
        for (float& value : table.values) value /= std::sqrt(static_cast<float>(model_.d_model));
      return pick_rows(table, vocabulary_.order);
    };
    auto source = read_one(source_), target = target_ == source_ ? source : read_one(target_);
    auto output = output_ == target_ ? target : read_one(output_);
    // Transformers 5 does the same: it reads tie_word_embeddings as the mark of the first version; whether tables are
    // one is seen in the file.
    const bool divided =
        !is_mt5(settings_) && settings_.flag("scale_decoder_outputs", settings_.flag("tie_word_embeddings", true));
    const bool tied = divided && target.values == output.values;
    if (tied && source.values == target.values) {
      model_.tie_embeddings = TiedEmbeddings::kAll;
      weights_["embedding"] = ours(std::move(source), true);
    } else {
      model_.tie_embeddings = tied ? TiedEmbeddings::kTarget : TiedEmbeddings::kNone;
      if (!tied) weights_["output_weight"] = ours(std::move(output), divided);
      weights_["source_embedding"] = ours(std::move(source), true);
      weights_["target_embedding"] = ours(std::move(target), true);
    }
    if (vocabulary_.order.front() >= 0) {  // <pad> is a token like others
      model_.zero_padding_embedding = false;
      return;
    }
    model_.output_bias = true;
    weights_["output_bias"] = zeros({std::ssize(vocabulary_.order)});
    weights_["output_bias"].values.front() = kNeverChosen;
  }

  PlainModel model() {
    Config config;
    config.model = model_;
    config.decoding = t5_decoding(generation_, task_);
    config.data.source_language = task_.source_language;
    config.data.target_language = task_.target_language;
    config.data.source_prefix = task_.prefix;
    config.data.vocab_size = std::ssize(vocabulary_.order);
    TextCodec::Options options{.source_language = task_.source_language,
                               .target_language = task_.target_language,
                               .source_prefix = task_.prefix};
    const auto tokenizer =
        std::make_shared<const SentencePieceTokenizer>(vocabulary_.model, (directory_ / kVocabulary).string());
    PlainModel model{.config = config,
                     .codec = TextCodec(std::move(options), tokenizer, tokenizer),
                     .summary = {{"imported_from", "Hugging Face T5"}},
                     .weights = std::move(weights_),
                     .name = directory_.string()};
    if (auto warning = unread_decoding(generation_.with(task_.settings), {}); !warning.empty())
      model.warnings.push_back(std::move(warning));
    check_import(model);
    return model;
  }

  fs::path directory_;
  HuggingFaceConfig settings_;
  ModelConfig model_;
  T5Heads heads_;
  int64_t rows_;
  T5Task task_;
  HuggingFaceConfig generation_;
  WeightFile weights_of_;
  T5Vocabulary vocabulary_ = {};
  std::string source_, target_, output_;  // tables of tokens in the file
  Arrays weights_;
};

}  // namespace

PlainModel read_t5(const fs::path& directory, const T5Choice& choice) {
  if (!fs::is_directory(directory)) throw Error(fmt::format("{}: no such folder", directory.string()));
  return T5Importer(directory, choice).read();
}

}  // namespace nmt::convert
