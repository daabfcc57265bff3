#include "api/inner/translator_state.h"

#include <fmt/format.h>

#include "base/error.h"
#include "base/process/user_files.h"
#include "base/threads.h"
#include "config/loading/schema.h"
#include "search/ensemble.h"

namespace nmt::api {
namespace {

void check_translator(const TranslatorOptions& options) {
  if (options.models.empty()) throw nmt::Error("models: name a model directory");
  for (const auto& model : options.models) require_file_name("models", model);
  if (!options.weights.empty() && options.weights.size() != options.models.size())
    throw nmt::Error(
        fmt::format("weights: {} for {} models; give one for each", options.weights.size(), options.models.size()));
  check_threads("threads", options.threads);
}

DecodingSettings base_settings(const TranslatorOptions& options) {
  auto settings = parse_settings(options.settings);
  if (!options.precision.empty()) settings.emplace_back("precision", options.precision);
  return settings;
}

}  // namespace

nmt::ModelSetOptions Translator::State::model_set(const TranslatorOptions& options) {
  check_translator(options);
  return {.directories = {options.models.begin(), options.models.end()},
          .weights = options.weights,
          .device = options.device,
          .max_source_length = options.max_source_length,
          .changed = [settings = base_settings(options)](const nmt::Config& config) {
            return with_settings(config, settings);
          }};
}

bool Translator::State::on_cpu() const { return device_of(*models_.first().model).is_cpu(); }

std::string Translator::State::key_of(const DecodingSettings& settings, const TranslateOptions& options) {
  std::string key = fmt::format("{}\n{}\n{}\n", options.n_best, options.split_sentences,
                                options.attention || options.alignment || options.copy_unknown);
  for (const auto& [name, value] : settings) key += fmt::format("{}={}\n", name, value);
  return key;
}

nmt::Config Translator::State::configuration(const DecodingSettings& settings) const {
  for (const auto& [name, value] : settings)
    if (name == "precision") throw nmt::Error("precision: is chosen where a translator is made, for all of its calls");
  auto all = base_settings(options_);
  all.insert(all.end(), settings.begin(), settings.end());
  return with_settings(models_.first().config, all);
}

nmt::TranslatorOptions Translator::State::inner_options(const DecodingSettings& settings,
                                                        const TranslateOptions& options) const {
  auto inner = translator_options(configuration(settings));
  inner.max_source_length = models_.options().max_source_length;
  inner.search.n_best = options.n_best;
  inner.search.attention = options.attention || options.alignment || options.copy_unknown;
  inner.split_sentences = options.split_sentences;
  return inner;
}

std::vector<nmt::TranslatorModel> Translator::State::members(const DecodingSettings& settings) const {
  auto members = models_.members();
  if (configuration(settings).decoding.shortlist == 0 || members.front().lexicon) return members;
  if (!lexicon_) lexicon_ = read_lexicon(models_.first().directory, models_.first().codec);
  members.front().lexicon = lexicon_;
  return members;
}

}  // namespace nmt::api
