#include "interop/plain/plain_model.h"

#include <fmt/format.h>

#include "base/error.h"
#include "base/files/file.h"
#include "base/files/mapped_file.h"
#include "base/files/safetensors_index.h"
#include "text/sentencepiece/sentencepiece_tokenizer.h"

namespace fs = std::filesystem;

namespace nmt::interop {
namespace {

constexpr const char* kWeights = "model.safetensors";

}  // namespace

const Array& PlainModel::weight(const std::string& key) const {
  const auto found = weights.find(key);
  if (found == weights.end()) throw Error(fmt::format("{}: tensor {} is missing", name, key));
  return found->second;
}

PlainModel read_plain_model(const fs::path& directory) {
  auto description = read_model_description(directory);
  PlainModel model{.config = std::move(description.config),
                   .codec = TextCodec::load(directory, description.tokenizer),
                   .summary = std::move(description.summary),
                   .weights = {},
                   .name = directory.string(),
                   .stored = description.weights};
  const std::string file = (directory / kWeights).string();
  const MappedFile mapped(file);
  const auto index = read_safetensors_index(mapped.bytes(), file);
  if (model.stored != WeightType::kFloat32) {
    for (const auto& [name, weight] : stored_weights(index, model.stored, file))
      model.weights[name] = {.shape = weight.values.shape, .values = weight.to_floats()};
    return model;
  }
  for (const auto& entry : index.tensors)
    model.weights[entry.name] =
        to_array({.type = entry.type, .shape = entry.shape, .data = entry.data}, file, entry.name);
  return model;
}

void write_plain_model(const fs::path& directory, const PlainModel& model) {
  int64_t parameters = 0;
  for (const auto& [name, array] : model.weights) parameters += std::ssize(array.values);
  write_safetensors(directory / kWeights, model.weights);
  write_model_description(directory, {.config = model.config,
                                      .tokenizer = model.codec.save(directory),
                                      .summary = model.summary,
                                      .parameters = parameters,
                                      .source_vocabulary = model.codec.source().size(),
                                      .target_vocabulary = model.codec.target().size()});
}

std::map<std::string, Shape> transformer_weights(const ModelConfig& c, int64_t source_vocabulary,
                                                 int64_t target_vocabulary) {
  std::map<std::string, Shape> shapes;
  const int64_t shared = c.key_value_heads > 0 ? c.d_model / c.num_heads * c.key_value_heads : c.d_model;
  const auto linear = [&](const std::string& name, int64_t out, int64_t in, bool bias) {
    shapes[name + ".weight"] = {out, in};
    if (bias) shapes[name + ".bias"] = {out};
  };
  const auto norm = [&](const std::string& name) {
    shapes[name + ".weight"] = {c.d_model};
    if (c.norm_form == NormForm::kLayer) shapes[name + ".bias"] = {c.d_model};
  };
  const auto attention = [&](const std::string& name) {
    linear(name + ".query", c.d_model, c.d_model, c.attention_bias);
    linear(name + ".key", shared, c.d_model, c.attention_bias);
    linear(name + ".value", shared, c.d_model, c.attention_bias);
    if (c.attention_output_projection) linear(name + ".output", c.d_model, c.d_model, c.attention_bias);
    norm(name + "_norm");
  };
  const auto block = [&](const std::string& name, bool decoder) {
    attention(name + ".self_attention");
    if (decoder) attention(name + ".cross_attention");
    linear(name + ".feed_forward.inner", c.d_ff, c.d_model, true);
    if (is_gated(c.activation)) linear(name + ".feed_forward.gated", c.d_ff, c.d_model, true);
    linear(name + ".feed_forward.outer", c.d_model, c.d_ff, true);
    norm(name + ".feed_forward_norm");
  };
  for (int64_t i = 0; i < c.encoder_blocks.value_or(c.num_blocks); ++i) block(fmt::format("encoder_{}", i), false);
  for (int64_t i = 0; i < c.decoder_blocks.value_or(c.num_blocks); ++i) block(fmt::format("decoder_{}", i), true);
  if (c.norm == Norm::kPre && c.final_norm) {
    norm("encoder_norm");
    norm("decoder_norm");
  }
  if (c.positions == PositionKind::kT5)  // of the first layer, for all of its stack
    for (const char* side : {"encoder", "decoder"})
      shapes[fmt::format("{}_0.self_attention.positions.weight", side)] = {c.relative_buckets, c.num_heads};
  if (c.positions == PositionKind::kLearned)
    shapes["source_positions.weight"] = shapes["target_positions.weight"] = {c.max_positions, c.d_model};
  if (c.tie_embeddings == TiedEmbeddings::kAll) {
    shapes["embedding"] = {source_vocabulary, c.d_model};
  } else {
    shapes["source_embedding"] = {source_vocabulary, c.d_model};
    shapes["target_embedding"] = {target_vocabulary, c.d_model};
    if (c.tie_embeddings == TiedEmbeddings::kNone) shapes["output_weight"] = {target_vocabulary, c.d_model};
  }
  if (c.output_bias) shapes["output_bias"] = {target_vocabulary};
  return shapes;
}

void check_weights(const PlainModel& model) {
  const auto shapes = transformer_weights(model.config.model, model.codec.source().size(), model.codec.target().size());
  for (const auto& [name, shape] : shapes) {
    const Array& found = model.weight(name);
    if (found.shape != shape)
      throw Error(fmt::format("{}: tensor {} is {}, the configuration needs {}", model.name, name, to_text(found.shape),
                              to_text(shape)));
  }
  for (const auto& [name, array] : model.weights)
    if (!shapes.contains(name))
      throw Error(fmt::format("{}: tensor {} belongs to no part of this model", model.name, name));
}

void write_safetensors(const fs::path& path, const Arrays& arrays) {
  std::vector<SafetensorsEntry> entries;
  for (const auto& [name, array] : arrays)
    entries.push_back({.name = name, .type = "F32", .shape = array.shape, .data = {}});
  AtomicFile file(path);
  file.write(safetensors_header(entries, {{"format", "pt"}}));
  for (const auto& [name, array] : arrays)
    file.write({reinterpret_cast<const char*>(array.values.data()), array.values.size() * sizeof(float)});
  file.commit();
}

void write_tokenizers(const fs::path& directory, const TextCodec& codec, const std::string& source_name,
                      const std::string& target_name) {
  const auto* source = dynamic_cast<const SentencePieceTokenizer*>(&codec.source());
  const auto* target = dynamic_cast<const SentencePieceTokenizer*>(&codec.target());
  if (!source || !target) return;
  write_file_atomically(directory / source_name, source->serialized());
  if (target_name != source_name) write_file_atomically(directory / target_name, target->serialized());
}

std::set<std::string> names_of_model_files(const fs::path& folder) {
  std::set<std::string> names{"model.json",
                              "model.safetensors",
                              "shortlist.bin",
                              "checksums.json",
                              "spm.model",
                              "source.spm",
                              "target.spm",
                              "model.bin",
                              "config.json",
                              "vocab.json",
                              "target_vocab.json",
                              "shared_vocabulary.json",
                              "source_vocabulary.json",
                              "target_vocabulary.json",
                              "generation_config.json",
                              "tokenizer_config.json"};
  for (const auto& entry : fs::directory_iterator(folder))
    if (const auto name = entry.path().filename().string(); name.ends_with(".vocab.tsv")) names.insert(name);
  return names;
}

}  // namespace nmt::interop
