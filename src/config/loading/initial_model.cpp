#include "config/loading/initial_model.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <optional>
#include <set>
#include <string_view>

#include "base/error.h"
#include "base/files/file.h"
#include "config/loading/model_description.h"
#include "config/option_table.h"
#include "config/value.h"

namespace nmt {
namespace {

/// How a model starts or trains, not what it computes.
constexpr std::array kOfTraining{"model.dropout_rate",
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

/// The way from text to pieces, of which TextCodec::Options is made.
constexpr std::array kOfCodec{"data.tokenizer",  "data.joint_vocabulary", "data.lowercase",     "data.nfkc",
                              "data.characters", "data.source_markers",   "data.reverse_source"};

/// What of that stays where the rows are mapped to another vocabulary.
constexpr std::array kOfSentences{"data.source_markers", "data.reverse_source"};

/// Names and tasks, which may be others for the same weights.
constexpr std::array kOfText{"data.source_language", "data.target_language", "data.source_prefix", "data.tags"};

/// How a vocabulary is learnt.
constexpr std::array kOfLearning{"data.spm_type",     "data.vocab_size",         "data.spm_sentences",
                                 "data.spm_upper",    "data.character_coverage", "data.byte_fallback",
                                 "data.user_symbols", "data.normalization",      "data.min_cnt",
                                 "data.word_ties",    "data.count_markup"};

/// Files of a directory are named by its owner, and the lexicon is not of these weights' text.
constexpr std::array kNotTaken{"model.word_vectors1", "model.word_vectors2", "decoding.shortlist",
                               "decoding.shortlist_frequent"};

template <size_t n>
bool holds(const std::array<const char*, n>& keys, std::string_view key) {
  return std::ranges::find(keys, key) != keys.end();
}

bool is_taken(const Option& option) {
  const auto key = option.key();
  if (holds(kNotTaken, key)) return false;
  return option.section == "model" || option.section == "decoding" || holds(kOfCodec, key) || holds(kOfText, key);
}

/// SHA-256 of the files of its tokenizers.
std::set<std::string> tokenizer_files(const ModelDescription& model) {
  std::set<std::string> sums;
  const auto files = model.tokenizer.value("files", nlohmann::json::object());
  for (const auto& sum : files)
    if (sum.is_string()) sums.insert(sum.get<std::string>());
  return sums;
}

/// Settings about the text that do not fit the model, by their keys.
std::vector<std::pair<std::string, std::string>> text_differences(const Config& config, const ModelDescription& model) {
  std::vector<std::pair<std::string, std::string>> found;
  const bool maps = config.training.init_vocabulary == InitVocabulary::kMap;
  for (const auto& [key, theirs, ours, ignored] : differences(model.config, config)) {
    if (maps ? holds(kOfSentences, key) : holds(kOfCodec, key))
      found.emplace_back(key, fmt::format("is {} there and {} here", theirs, ours));
    if (maps || !holds(kOfLearning, key)) continue;
    const auto* option = find_option("data", std::string_view(key).substr(std::string_view("data.").size()));
    if (format_value(*option, Config()) != ours)
      found.emplace_back(key, "is for learning a vocabulary, and the model brings its own");
  }
  if (maps) return found;
  const auto files = tokenizer_files(model);
  const auto check_file = [&](const char* key, const std::string& path) {
    if (!path.empty() && std::filesystem::exists(path) && !files.contains(sha256_of_file(path)))
      found.emplace_back(key, fmt::format("names {}, which is none of the model's own files", path));
  };
  check_file("data.spm_model1", config.data.spm_model1);
  check_file("data.spm_model2", config.data.spm_model2);
  check_file("data.vocabulary1", config.data.vocabulary1);
  check_file("data.vocabulary2", config.data.vocabulary2);
  return found;
}

/// What is taken of the settings of a model.
void take(const Config& theirs, const std::string& from, Config& config, const Origins& origins) {
  for (const Option& option : options())
    if (is_taken(option) && !origins.contains(option.key()))
      assign_value(config, option, YAML::Load(format_value(option, theirs)), from);
}

/// The configuration of the run that was begun in run.dir from the same model, where there is one.
std::optional<Config> begun_run(const Config& config) {
  const auto path = std::filesystem::path(config.run.dir) / "config.yaml";
  if (!std::filesystem::exists(path)) return {};
  auto begun = parse_config(read_file(path), path.string()).config;
  if (begun.training.init_from != config.training.init_from) return {};
  return begun;
}

ModelDescription description_of(const std::string& directory) {
  try {
    return read_model_description(directory);
  } catch (const Error& error) {
    throw Error(fmt::format("training.init_from {}", error.what()));
  }
}

}  // namespace

std::vector<ConfigDifference> model_differences(const ModelConfig& theirs, const ModelConfig& ours) {
  Config before, after;
  before.model = theirs;
  after.model = ours;
  auto found = differences(before, after);
  const auto deepnet = name_of(DeepInitKind::kDeepNet);
  std::erase_if(found, [&](const ConfigDifference& difference) {
    if (difference.key == "model.deep_init") return difference.before != deepnet && difference.after != deepnet;
    return holds(kOfTraining, difference.key);
  });
  return found;
}

void follow_initial_model(Config& config, const Origins& origins) {
  const std::string from = config.training.init_from;
  if (from.empty()) return;
  if (!std::filesystem::exists(from))
    if (const auto begun = begun_run(config)) return take(*begun, config.run.dir, config, origins);
  const auto model = description_of(from);
  take(model.config, from, config, origins);

  std::vector<std::string> all;
  const auto list = [&](const std::string& key, const std::string& why) {
    const auto origin = origins.find(key);
    all.push_back(
        fmt::format("{} {}{}", key, why, origin == origins.end() ? "" : fmt::format(" ({})", origin->second)));
  };
  for (const auto& difference : model_differences(model.config.model, config.model))
    list(difference.key, fmt::format("is {} there and {} here", difference.before, difference.after));
  for (const auto& [key, why] : text_differences(config, model)) list(key, why);
  if (!all.empty())
    throw Error(fmt::format("training.init_from {}: the configuration asks for another model: {}; leave {} out", from,
                            fmt::join(all, ", "), all.size() == 1 ? "it" : "them"));
}

LoadedConfig load_run_config(const std::filesystem::path& path, const std::vector<std::string>& settings,
                             const std::vector<PlainSetting>& plain) {
  return load_config(path, settings, plain, follow_initial_model);
}

}  // namespace nmt
