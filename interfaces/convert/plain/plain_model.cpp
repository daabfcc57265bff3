#include "convert/plain/plain_model.h"

#include <fmt/format.h>

#include "base/error.h"
#include "base/files/adapter.h"
#include "base/files/file.h"
#include "base/files/mapped_file.h"
#include "base/files/stored_weights.h"
#include "convert/formats/array.h"
#include "data/lexicon.h"
#include "text/sentencepiece/sentencepiece_tokenizer.h"

namespace fs = std::filesystem;

namespace nmt::convert {
namespace {

constexpr const char* kWeights = "model.safetensors";

}  // namespace

const Array& PlainModel::weight(const std::string& key) const {
  const auto found = weights.find(key);
  if (found == weights.end()) throw Error(fmt::format("{}: tensor {} is missing", name, key));
  return found->second;
}

int64_t PlainModel::numbers() const {
  int64_t count = 0;
  for (const auto& [name, array] : weights) count += std::ssize(array.values);
  return count;
}

PlainModel read_plain_model(const fs::path& directory) {
  if (!fs::exists(directory / "model.json") && fs::exists(directory / "model.bin"))
    throw Error(
        fmt::format("{}: holds a model of CTranslate2, which is not read; name the model directory that it was "
                    "made of",
                    directory.string()));
  auto description = read_model_description(directory);
  PlainModel model{.config = std::move(description.config),
                   .codec = TextCodec::load(directory, description.tokenizer),
                   .summary = std::move(description.summary),
                   .weights = {},
                   .name = directory.string(),
                   .stored = description.weights,
                   .parameters = description.parameters};
  const std::string file = (directory / kWeights).string();
  const MappedFile mapped(file);
  const auto index = read_safetensors_index(mapped.bytes(), file);
  if (model.stored != WeightType::kFloat32) {
    for (const auto& [name, weight] : stored_weights(index, model.stored, file))
      model.weights[name] = {.shape = weight.values.shape, .values = weight.to_floats()};
    return model;
  }
  for (const auto& entry : index.tensors) {
    throw_if_stopped();
    model.weights[entry.name] =
        to_array({.type = entry.type, .shape = entry.shape, .data = entry.data}, file, entry.name);
  }
  return model;
}

void add_adapter(PlainModel& model, const fs::path& directory, const fs::path& file) {
  const auto adapter = adapter_of(directory, file);
  for (auto& [name, array] : model.weights) {
    throw_if_stopped();
    adapter.add_to(name, array.shape, array.values);
  }
  model.summary = {{"weights", "with an adapter"}, {"adapter_sha256", sha256_of_file(file)}};
}

void copy_lexicon(const fs::path& from, const fs::path& to) {
  if (fs::exists(from / kLexiconFile)) Lexicon::read(from / kLexiconFile).write(to / kLexiconFile);
}

void write_plain_model(const fs::path& directory, const PlainModel& model) {
  write_safetensors(directory / kWeights, model.weights);
  write_model_description(directory, {.config = model.config,
                                      .tokenizer = model.codec.save(directory),
                                      .summary = model.summary,
                                      .parameters = model.numbers(),
                                      .source_vocabulary = model.codec.source().size(),
                                      .target_vocabulary = model.codec.target().size()});
}

void write_safetensors(const fs::path& path, const Arrays& arrays) {
  std::vector<SafetensorsEntry> entries;
  for (const auto& [name, array] : arrays)
    entries.push_back({.name = name, .type = "F32", .shape = array.shape, .data = {}});
  AtomicFile file(path);
  file.write(safetensors_header(entries, {{"format", "pt"}}));
  for (const auto& [name, array] : arrays) {
    throw_if_stopped();
    file.write({reinterpret_cast<const char*>(array.values.data()), array.values.size() * sizeof(float)});
  }
  file.commit();
}

void write_json(const fs::path& path, const nlohmann::ordered_json& json) {
  write_file_atomically(path, json.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) + "\n");
}

void write_tokenizers(const fs::path& directory, const TextCodec& codec, const std::string& source_name,
                      const std::string& target_name) {
  const auto* source = dynamic_cast<const SentencePieceTokenizer*>(&codec.source());
  const auto* target = dynamic_cast<const SentencePieceTokenizer*>(&codec.target());
  if (!source || !target) return;
  write_file_atomically(directory / source_name, source->serialized());
  if (target_name != source_name) write_file_atomically(directory / target_name, target->serialized());
}

std::vector<std::string> names_of_model_files(const fs::path& folder) {
  std::vector<std::string> names{"model.json",
                                 "model.safetensors",
                                 kAdapterFile,
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
    if (const auto name = entry.path().filename().string(); name.ends_with(".vocab.tsv")) names.push_back(name);
  return names;
}

}  // namespace nmt::convert
