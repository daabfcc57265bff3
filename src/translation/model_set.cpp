#include "translation/model_set.h"

#include <fmt/format.h>

#include <cmath>

#include "base/error.h"
#include "base/files/file.h"
#include "translation/ready_models.h"

namespace nmt {
namespace {

Config changed_config(const ModelSetOptions& options, const Config& config) {
  return options.changed ? options.changed(config) : config;
}

TranslatorOptions options_of(const ModelSetOptions& options, const ReadyModel& first) {
  auto translator = translator_options(changed_config(options, first.config));
  if (const auto wanted = options.max_source_length) {
    translator.max_source_length = *wanted;
    limit_to(*first.model, first.codec.options().source_markers, translator);
    if (translator.max_source_length < *wanted)
      throw Error(fmt::format("--max-source-length {}: the positions of this model allow at most {}", *wanted,
                              translator.max_source_length));
  }
  translator.validate();
  return translator;
}

}  // namespace

ModelSet::ModelSet(const ModelSetOptions& options) : adapter_(options.adapter) {
  if (options.directories.size() > 1 && !options.adapter.empty())
    throw Error(fmt::format("the adapter {} (--adapter): is of one model, not of an ensemble; leave it out",
                            options.adapter.string()));
  if (options.directories.size() == 1 && !options.weights.empty())
    throw Error("the weights of the models (--model-weights): one model has no other to weigh against; leave them out");
  double sum = 0;
  for (const double weight : options.weights) {
    require_model_weight(weight);
    sum += weight;
  }
  if (!std::isfinite(sum)) throw Error("the weights of the models: their sum is too large; use smaller ones");
  const auto precision = [&](const Config& config) { return changed_config(options, config).decoding.precision; };
  for (const auto& directory : options.directories)
    loaded_.push_back(
        load_ready_model({directory, options.device, precision, options.threads, options.adapter, options.is_guest},
                         options.directories.size() == 1));
  require_one_target(loaded_);
  auto& first = loaded_.front();
  if (options.decoding) first.config.decoding = *options.decoding;
  translator_options_ = options_of(options, first);
  if (translator_options_.search.shortlist > 0) first.lexicon = read_lexicon(first.directory, first.codec);
  for (size_t i = 0; i < loaded_.size(); ++i)
    members_.push_back({.model = loaded_[i].model.get(),
                        .codec = &loaded_[i].codec,
                        .weight = options.weights.empty() ? 1 : options.weights[i],
                        .lexicon = loaded_[i].lexicon});
}

nlohmann::json ModelSet::description() const {
  auto models = nlohmann::json::array();
  for (size_t i = 0; i < loaded_.size(); ++i)
    models.push_back({{"directory", loaded_[i].directory.string()},
                      {"sha256", sha256_of_file(loaded_[i].directory / "model.safetensors")},
                      {"weight", members_[i].weight},
                      {"precision", loaded_[i].precision}});
  if (!adapter_.empty()) models.front()["adapter_sha256"] = sha256_of_file(adapter_);
  return models;
}

}  // namespace nmt
