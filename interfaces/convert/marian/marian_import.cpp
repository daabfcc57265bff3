#include "convert/marian/marian_import.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/error.h"
#include "convert/marian/marian_folder.h"
#include "convert/marian/marian_npz.h"
#include "convert/plain/model_weights.h"
#include "text/sentencepiece/sentencepiece_tokenizer.h"

namespace fs = std::filesystem;

namespace nmt::convert {
namespace {

constexpr float kImpossible = -1e9F;  // a logit: probability 0

bool is_close(const Array& a, const Array& b) {
  for (size_t i = 0; i < a.values.size(); ++i)
    if (std::fabs(a.values[i] - b.values[i]) > 1e-5F) return false;
  return true;
}

/// Reads a folder's weights into ours.
class Importer {
 public:
  explicit Importer(MarianFolder folder) : folder_(std::move(folder)), config_(folder_.config) {}

  PlainModel read() {
    const auto shapes = transformer_weights(config_, 0, 0);
    check_tensors(shapes);
    renumber_vocabularies();
    for (const auto& [ours, theirs] : folder_.blocks) weights_[ours] = folder_.weights.read(theirs, shapes.at(ours));
    read_tables();
    read_output_bias();
    read_positions();
    Config config;
    config.model = config_;
    config.decoding = folder_.decoding;
    config.data.source_language = folder_.source_language;
    config.data.target_language = folder_.target_language;
    config.data.vocab_size = std::ssize(target_.rows);
    config.data.joint_vocabulary = folder_.shared;  // a table for both, if with two ways to cut text
    TextCodec::Options options{.source_language = folder_.source_language,
                               .target_language = folder_.target_language,
                               .tags_both_sides = folder_.tags_both_sides};
    PlainModel model{.config = config,
                     .codec = codec(std::move(options)),
                     .summary = {{"imported_from", folder_.format}},
                     .weights = std::move(weights_),
                     .name = folder_.directory.string()};
    if (!folder_.warning.empty()) model.warnings.push_back(folder_.warning);
    check_import(model);
    return model;
  }

 private:
  /// Before memory is taken for any of them, and for as many tokens as the configuration says.
  void check_tensors(const std::map<std::string, Shape>& shapes) const {
    for (const auto& [ours, theirs] : folder_.blocks) folder_.weights.check(theirs, shapes.at(ours));
    const auto &source = folder_.source, &target = folder_.target;
    folder_.weights.check(source.table, {source.rows, config_.d_model});
    folder_.weights.check(target.table, {target.rows, config_.d_model});
    if (!folder_.tied) folder_.weights.check(folder_.output_weight, {target.rows, config_.d_model});
    if (!folder_.output_bias.empty()) folder_.weights.check(folder_.output_bias, {target.rows});
    auto known = folder_.unused;
    known.insert(
        {source.table, target.table, source.positions, target.positions, folder_.output_weight, folder_.output_bias});
    for (const auto& [ours, theirs] : folder_.blocks) known.insert(theirs);
    known.erase("");  // what the folder does not have
    folder_.weights.refuse_others(known);
  }

  void renumber_vocabularies() {
    const auto &source = folder_.source, &target = folder_.target;
    const bool typed = !folder_.tags_both_sides;
    const MarianSide first{source.model, &source.ids, typed}, second{target.model, &target.ids, typed};
    if (folder_.shared) {
      auto both = renumber({first, second}, source.rows, source.specials);
      source_ = target_ = std::move(both.vocabulary);
      models_ = std::move(both.models);
      return;
    }
    auto left = renumber({first}, source.rows, source.specials),
         right = renumber({second}, target.rows, target.specials);
    source_ = std::move(left.vocabulary);
    target_ = std::move(right.vocabulary);
    models_ = {std::move(left.models[0]), std::move(right.models[0])};
  }

  Array read_table(const std::string& name, const MarianFolder::Side& side, const MarianVocabulary& vocabulary) {
    return pick_rows(folder_.weights.read(name, {side.rows, config_.d_model}), vocabulary.order());
  }

  /// Embeddings and output layer. Ours are always multiplied by sqrt(model).
  void read_tables() {
    auto source = read_table(folder_.source.table, folder_.source, source_);
    if (folder_.tied && folder_.scaled && folder_.shared) {
      config_.tie_embeddings = TiedEmbeddings::kAll;
      set_padding_row(source);
      weights_["embedding"] = std::move(source);
      return;
    }
    auto target = read_table(folder_.target.table, folder_.target, target_);
    config_.tie_embeddings = folder_.tied && folder_.scaled ? TiedEmbeddings::kTarget : TiedEmbeddings::kNone;
    if (config_.tie_embeddings == TiedEmbeddings::kNone)
      weights_["output_weight"] = folder_.tied ? target : read_table(folder_.output_weight, folder_.target, target_);
    if (!folder_.scaled)
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
    Array theirs = zeros({folder_.target.rows});
    if (!folder_.output_bias.empty()) theirs = folder_.weights.read(folder_.output_bias, theirs.shape);
    auto bias = pick_rows(theirs, target_.order());
    for (size_t id = 0; id < target_.rows.size(); ++id)
      if (!target_.rows[id].possible) bias.values[id] = kImpossible;
    config_.output_bias = std::any_of(bias.values.begin(), bias.values.end(), [](float value) { return value != 0; });
    if (config_.output_bias) weights_["output_bias"] = std::move(bias);
  }

  /// Tables that are not the sinusoids are taken as learned ones.
  void read_positions() {
    if (folder_.first_position > 0) return compute_positions();
    const auto &source_name = folder_.source.positions, &target_name = folder_.target.positions;
    if (source_name.empty() || target_name.empty()) return;
    const Shape shape{folder_.weights.rows(source_name), config_.d_model};
    auto source = folder_.weights.read(source_name, shape), target = folder_.weights.read(target_name, shape);
    const auto expected = sinusoids(config_.sinusoid, shape[0], config_.d_model);
    if (is_close(source, expected) && is_close(target, expected)) return;
    config_.positions = PositionKind::kLearned;
    config_.max_positions = shape[0];
    weights_["source_positions.weight"] = std::move(source);
    weights_["target_positions.weight"] = std::move(target);
  }

  void compute_positions() {
    std::vector<int64_t> rows(config_.max_positions);
    std::iota(rows.begin(), rows.end(), folder_.first_position);
    const auto all = sinusoids(config_.sinusoid, folder_.first_position + config_.max_positions, config_.d_model);
    config_.positions = PositionKind::kLearned;
    weights_["source_positions.weight"] = weights_["target_positions.weight"] = pick_rows(all, rows);
  }

  TextCodec codec(TextCodec::Options options) const {
    const auto make = [&](size_t i, const fs::path& model) {
      return std::make_shared<const SentencePieceTokenizer>(models_[i], model.string());
    };
    const auto source = make(0, folder_.source.model);
    const bool one = folder_.shared && models_[0] == models_[1];
    return {std::move(options), source, one ? source : make(1, folder_.target.model)};
  }

  MarianFolder folder_;
  ModelConfig config_;
  MarianVocabulary source_, target_;
  std::vector<std::string> models_;
  Arrays weights_;
};

}  // namespace

PlainModel read_marian(const fs::path& directory) {
  if (!fs::is_directory(directory)) throw Error(fmt::format("{}: no such folder", directory.string()));
  if (fs::exists(directory / "config.json")) return Importer(open_hugging_face(directory)).read();
  if (fs::exists(directory / "decoder.yml")) return Importer(open_marian_npz(directory)).read();
  throw Error(
      fmt::format("{}: neither a Hugging Face model (config.json is missing) nor one of Marian (decoder.yml is "
                  "missing)",
                  directory.string()));
}

PlainModel read_m2m(const fs::path& directory) {
  if (!fs::is_directory(directory)) throw Error(fmt::format("{}: no such folder", directory.string()));
  return Importer(open_m2m(directory)).read();
}

}  // namespace nmt::convert
