#include "training/fine_tuning.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <fnmatch.h>

#include <algorithm>
#include <set>

#include "base/error.h"
#include "config/loading/initial_model.h"
#include "models/model_directory.h"
#include "text/codec/codec.h"
#include "training/optimizers/low_rank.h"

namespace fs = std::filesystem;

namespace nmt {
namespace {

/// The bias of tokens that an import makes impossible with -1e9. This is as impossible, and does not outweigh all else
/// in the mean over all tokens that label smoothing takes.
constexpr double kLeastBias = -1000;

}  // namespace

void load_initial_weights(TranslationModel& model, const ModelConfig& config, const TextCodec& codec,
                          const fs::path& directory) {
  const LoadedModel loaded = load_model(directory, torch::kCPU);
  require_float32(loaded, "training.init_from");
  auto all = codec_differences(loaded.codec, codec);
  for (const auto& [key, there, here, ignored] : model_differences(loaded.config.model, config))
    all.push_back(fmt::format("{} is {} there and {} here", key, there, here));
  if (!all.empty())
    throw Error(
        fmt::format("training.init_from {}: {}; leave these out and prepare the data again, with nmt-prepro "
                    "--from-model {}",
                    directory.string(), fmt::join(all, ", "), directory.string()));
  const torch::NoGradGuard no_grad;
  const auto from = named_parameters(*loaded.model), to = named_parameters(model);
  for (size_t i = 0; i < to.size(); ++i) to[i].second.detach().copy_(from[i].second);
  if (auto bias = model.output_bias(); bias.defined()) bias.detach().clamp_min_(kLeastBias);
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
