#include "training/fine_tuning.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <fnmatch.h>

#include <algorithm>
#include <optional>
#include <set>

#include "base/error.h"
#include "base/process/log.h"
#include "config/loading/initial_model.h"
#include "models/model_directory.h"
#include "text/codec/codec.h"
#include "text/codec/vocabulary_map.h"
#include "training/optimizers/low_rank.h"

namespace fs = std::filesystem;

namespace nmt {
namespace {

/// The bias of tokens that an import makes impossible with -1e9. This is as impossible, and does not outweigh all else
/// in the mean over all tokens that label smoothing takes.
constexpr double kLeastBias = -1000;

/// The rows of a new vocabulary as they begin, [pieces, ...], from those of the old one.
torch::Tensor mapped_rows(const torch::Tensor& rows, const std::vector<std::vector<int32_t>>& map) {
  const int64_t first = SpecialIds::kEnd + 1;
  const auto mean_of_all = rows.narrow(0, first, rows.size(0) - first).mean(0);
  std::vector<torch::Tensor> mapped;
  for (const auto& pieces : map) {
    if (pieces.empty())
      mapped.push_back(mean_of_all);
    else if (pieces.size() == 1)
      mapped.push_back(rows[pieces.front()]);
    else
      mapped.push_back(rows.index_select(0, torch::tensor(at::ArrayRef<int32_t>(pieces), torch::kInt32)).mean(0));
  }
  return torch::stack(mapped);
}

/// The rows of both vocabularies, by the names of the parameters that have them.
class VocabularyRows {
 public:
  VocabularyRows(const TextCodec& from, const TextCodec& to)
      : source_(map_vocabulary(from.source(), from.options().normalization(), to.source())),
        target_(map_vocabulary(from.target(), from.options().normalization(), to.target())) {}

  torch::Tensor mapped(const std::string& name, const torch::Tensor& from) const {
    if (name == "embedding" || name == "source_embedding") return mapped_rows(from, source_);
    if (name == "target_embedding" || name == "output_weight" || name == "output_bias")
      return mapped_rows(from, target_);
    return from;
  }

  std::string description() const {
    return fmt::format("{}; {}", described("source", source_), described("target", target_));
  }

 private:
  using Map = std::vector<std::vector<int32_t>>;
  static std::string described(const char* side, const Map& map) {
    const auto single = std::ranges::count_if(map, [](const auto& pieces) { return pieces.size() == 1; });
    const auto none = std::ranges::count_if(map, [](const auto& pieces) { return pieces.empty(); });
    return fmt::format("{}: {} pieces, {} with the row of an old one, {} with the mean of several, {} with that of all",
                       side, with_commas(std::ssize(map)), with_commas(single),
                       with_commas(std::ssize(map) - single - none), with_commas(none));
  }

  Map source_, target_;
};

}  // namespace

std::string load_initial_weights(TranslationModel& model, const ModelConfig& config, const TextCodec& codec,
                                 const fs::path& directory, InitVocabulary vocabulary) {
  const bool maps = vocabulary == InitVocabulary::kMap;
  const LoadedModel loaded = load_model(directory, torch::kCPU);
  require_float32(loaded, "training.init_from");
  auto all = maps ? sentence_differences(loaded.codec, codec) : codec_differences(loaded.codec, codec);
  for (const auto& [key, there, here, ignored] : model_differences(loaded.config.model, config))
    all.push_back(fmt::format("{} is {} there and {} here", key, there, here));
  if (!all.empty())
    throw Error(
        fmt::format("training.init_from {}: {}; leave these out and prepare the data again, with nmt-prepro "
                    "--from-model {}",
                    directory.string(), fmt::join(all, ", "), directory.string()));
  const torch::NoGradGuard no_grad;
  const auto from = named_parameters(*loaded.model), to = named_parameters(model);
  if (auto bias = loaded.model->output_bias(); bias.defined()) bias.detach().clamp_min_(kLeastBias);
  const auto start = fmt::format("the weights start from {}", directory.string());
  std::optional<VocabularyRows> rows;
  if (maps) rows.emplace(loaded.codec, codec);
  for (size_t i = 0; i < to.size(); ++i)
    to[i].second.detach().copy_(rows ? rows->mapped(to[i].first, from[i].second) : from[i].second);
  return rows ? fmt::format("{}, mapped to another vocabulary ({})", start, rows->description()) : start;
}

NamedTensors freeze(TranslationModel& model, const TrainingConfig& training) {
  const auto all = named_parameters(model);
  std::set<std::string> frozen;
  for (const auto& pattern : training.freeze) {
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
  return training.lora_rank > 0 ? adapted_matrices(model, trained) : trained;
}

}  // namespace nmt
