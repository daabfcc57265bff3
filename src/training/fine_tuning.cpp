#include "training/fine_tuning.h"

#include <fmt/format.h>
#include <fnmatch.h>

#include <algorithm>
#include <set>

#include "base/error.h"
#include "config/option_listing.h"
#include "models/model_directory.h"
#include "text/sentencepiece/sentencepiece_tokenizer.h"

namespace fs = std::filesystem;

namespace nmt {
namespace {

/// Options that decide how a model starts or trains, not what it computes.
bool may_differ(const ConfigDifference& difference) {
  static const std::set<std::string> kOfTraining{"model.dropout_rate",
                                                 "model.input_dropout_rate",
                                                 "model.attention_dropout_rate",
                                                 "model.residual_dropout_rate",
                                                 "model.ffn_dropout_rate",
                                                 "model.position_init",
                                                 "model.embedding_init",
                                                 "model.init",
                                                 "model.init_std",
                                                 "model.init_range",
                                                 "model.bias_init",
                                                 "model.attention_init",
                                                 "model.recurrent_init",
                                                 "model.word_vectors1",
                                                 "model.word_vectors2"};
  const auto deepnet = name_of(DeepInitKind::kDeepNet);
  if (difference.key == "model.deep_init") return difference.before != deepnet && difference.after != deepnet;
  return kOfTraining.contains(difference.key);
}

std::string model_difference(const ModelConfig& theirs, const ModelConfig& ours) {
  Config before, after;
  before.model = theirs;
  after.model = ours;
  for (const auto& difference : differences(before, after))
    if (!may_differ(difference))
      return fmt::format("{} is {} there and {} here", difference.key, difference.before, difference.after);
  return "";
}

std::string tokenizer_difference(const Tokenizer& theirs, const Tokenizer& ours) {
  if (theirs.size() != ours.size())
    return fmt::format("the vocabulary has {} entries there and {} here", theirs.size(), ours.size());
  for (int32_t id = 0; id < ours.size(); ++id)
    if (theirs.piece(id) != ours.piece(id))
      return fmt::format("entry {} of the vocabulary is '{}' there and '{}' here", id, theirs.piece(id),
                         ours.piece(id));
  const auto* a = dynamic_cast<const SentencePieceTokenizer*>(&theirs);
  const auto* b = dynamic_cast<const SentencePieceTokenizer*>(&ours);
  if (!a != !b || (a && a->serialized() != b->serialized()))
    return "the tokenizers have the same vocabulary but cut text in other ways";
  return "";
}

std::string codec_difference(const TextCodec& theirs, const TextCodec& ours) {
  const auto& a = theirs.options();
  const auto& b = ours.options();
  if (a.lowercase != b.lowercase) return fmt::format("data.lowercase is {} there", a.lowercase);
  if (a.nfkc != b.nfkc) return fmt::format("data.nfkc is {} there", a.nfkc);
  if (a.latin_only != b.latin_only) return fmt::format("data.characters is {} there", a.latin_only ? "latin" : "all");
  if (a.source_markers != b.source_markers)
    return fmt::format("data.source_markers is {} there", name_of(a.source_markers));
  if (a.reverse_source != b.reverse_source) return fmt::format("data.reverse_source is {} there", a.reverse_source);
  // Another prefix may be another task of the same model; none where there was one is forgotten.
  if (!a.source_prefix.empty() && b.source_prefix.empty())
    return fmt::format("data.source_prefix is '{}' there and not set here", a.source_prefix);
  if (auto difference = tokenizer_difference(theirs.source(), ours.source()); !difference.empty())
    return "source: " + difference;
  if (auto difference = tokenizer_difference(theirs.target(), ours.target()); !difference.empty())
    return "target: " + difference;
  return "";
}

}  // namespace

void require_initial_weights(const fs::path& directory) {
  try {
    require_model_directory(directory);
  } catch (const Error& error) {
    throw Error(fmt::format("training.init_from {}", error.what()));
  }
}

void load_initial_weights(TranslationModel& model, const ModelConfig& config, const TextCodec& codec,
                          const fs::path& directory) {
  require_initial_weights(directory);
  const LoadedModel loaded = load_model(directory, torch::kCPU);
  require_float32(loaded, "training.init_from");
  if (const auto difference = model_difference(loaded.config.model, config); !difference.empty())
    throw Error(fmt::format("training.init_from {}: {}; set it as it is there", directory.string(), difference));
  if (const auto difference = codec_difference(loaded.codec, codec); !difference.empty())
    throw Error(
        fmt::format("training.init_from {}: {}; prepare the data with that model's tokenizer (data.spm_model1 or "
                    "data.vocabulary1)",
                    directory.string(), difference));
  const torch::NoGradGuard no_grad;
  const auto from = named_parameters(*loaded.model), to = named_parameters(model);
  for (size_t i = 0; i < to.size(); ++i) to[i].second.detach().copy_(from[i].second);
}

NamedTensors freeze(TranslationModel& model, std::span<const std::string> patterns) {
  const auto all = named_parameters(model);
  std::set<std::string> frozen;
  for (const auto& pattern : patterns) {
    bool fits = false;
    for (const auto& [name, parameter] : all) {
      if (fnmatch(pattern.c_str(), name.c_str(), 0) != 0) continue;
      fits = true;
      frozen.insert(name);
    }
    if (!fits)
      throw Error(fmt::format("training.freeze: no weight is called '{}'; there are {}, ..., {}", pattern,
                              all.front().first, all.back().first));
  }
  NamedTensors trained;
  for (const auto& [name, parameter] : all) {
    parameter.set_requires_grad(!frozen.contains(name));
    if (!frozen.contains(name)) trained.emplace_back(name, parameter);
  }
  if (trained.empty()) throw Error("training.freeze: nothing is left to train");
  return trained;
}

}  // namespace nmt
