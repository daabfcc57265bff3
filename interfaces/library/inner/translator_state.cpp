#include "library/inner/translator_state.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/process/user_files.h"
#include "config/loading/schema.h"
#include "library/inner/guard.h"
#include "translation/line_formats.h"
#include "translation/lines/word_alignment.h"

namespace nmt::api {
namespace {

std::vector<AlignedPair> alignment_of(const nmt::Alternative& found, std::string_view line,
                                      const nmt::TextCodec& codec) {
  std::vector<AlignedPair> pairs;
  for (const auto& [source, target] : word_links(codec, line, found))
    pairs.push_back({static_cast<int32_t>(source), static_cast<int32_t>(target)});
  return pairs;
}

}  // namespace

Alternative to_alternative(nmt::Alternative found, std::string_view line, const nmt::TextCodec& codec,
                           const TranslateOptions& options) {
  Alternative result;
  result.score = found.score;
  result.log_probability = found.log_probability;
  result.tokens = found.tokens;
  result.finished = found.finished;
  result.meets_constraints = found.meets_constraints;
  result.shortened = found.shortened;
  result.expected_utility = found.expected_utility;
  if (options.token_scores) result.pieces = token_pieces(found, codec);
  if (options.alignment) result.alignment = alignment_of(found, line, codec);
  if (options.attention) {
    for (auto& grid : piece_attention(codec, found))
      result.attention.push_back({std::move(grid.queries), std::move(grid.keys), std::move(grid.weights)});
  }
  if (options.token_scores) result.token_scores = std::move(found.token_log_probabilities);
  result.text = std::move(found.text);
  return result;
}

Translation to_translation(nmt::Translation found, std::string_view line, const nmt::TextCodec& codec,
                           const TranslateOptions& options) {
  Translation result;
  result.text = std::move(found.text);
  result.source_tokens = found.source_tokens;
  result.target_tokens = found.target_tokens;
  result.split = found.split;
  for (auto& alternative : found.alternatives)
    result.alternatives.push_back(to_alternative(std::move(alternative), line, codec, options));
  return result;
}

namespace {

void check_translator(const TranslatorOptions& options) {
  if (options.models.empty()) throw nmt::Error("models: name a model directory");
  for (const auto& model : options.models) require_file_name("models", model);
  if (!options.weights.empty() && options.weights.size() != options.models.size())
    throw nmt::Error(
        fmt::format("weights: {} for {} models; give one for each", options.weights.size(), options.models.size()));
}

}  // namespace

// The lexicon is read here, too, whoever wants it later: by then another model may have been renamed into its place.
Translator::State::State(const TranslatorOptions& options)
    : options_(options), models_(model_set(options)), lexicon_(models_.members().front().lexicon) {
  if (lexicon_) return;
  try {
    lexicon_ = read_lexicon(models_.first().directory, models_.first().codec);
  } catch (const std::exception&) {
    no_lexicon_ = std::current_exception();
  }
}

nmt::ModelSetOptions Translator::State::model_set(const TranslatorOptions& options) {
  check_translator(options);
  const int threads = threads_of_call(options.threads);
  return {.directories = {options.models.begin(), options.models.end()},
          .weights = options.weights,
          .device = options.device,
          .max_source_length = options.max_source_length,
          .changed = [settings = settings_of(options.decoding)](
                         const nmt::Config& config) { return with_settings(config, settings); },
          .threads = threads,
          .adapter = options.adapter,
          .is_guest = true};
}

std::shared_ptr<const nmt::Translator> Translator::State::translator_for(const TranslateOptions& options) const {
  const DecodingSettings settings = settings_of(options.decoding);
  Key key{options.n_best, wants_attention(options), settings};
  const std::lock_guard lock(mutex_);
  auto found = std::ranges::find(kept_, key, &Kept::key);
  if (found == kept_.end()) {
    auto made = std::make_shared<const nmt::Translator>(members(settings), inner_options(settings, options));
    if (kept_.size() == kKept) kept_.pop_back();
    found = kept_.insert(kept_.end(), {std::move(key), std::move(made)});
  }
  std::rotate(kept_.begin(), found, found + 1);
  return kept_.front().translator;
}

bool Translator::State::on_cpu() const { return models_.first().model->is_on_cpu(); }

bool Translator::State::wants_attention(const TranslateOptions& options) {
  return options.attention || options.alignment || options.copy_unknown;
}

nmt::Config Translator::State::configuration(const DecodingSettings& settings) const {
  for (const auto& [name, value] : settings)
    if (name == "precision") throw nmt::Error("precision: is chosen where a translator is made, for all of its calls");
  auto all = settings_of(options_.decoding);
  all.insert(all.end(), settings.begin(), settings.end());
  return with_settings(models_.first().config, all);
}

nmt::TranslatorOptions Translator::State::inner_options(const DecodingSettings& settings,
                                                        const TranslateOptions& options) const {
  auto inner = translator_options(configuration(settings));
  inner.max_source_length = models_.options().max_source_length;
  inner.search.n_best = options.n_best;
  inner.search.attention = wants_attention(options);
  return inner;
}

std::vector<nmt::TranslatorModel> Translator::State::members(const DecodingSettings& settings) const {
  auto members = models_.members();
  if (configuration(settings).decoding.shortlist == 0) return members;
  if (!lexicon_) std::rethrow_exception(no_lexicon_);
  members.front().lexicon = lexicon_;
  return members;
}

}  // namespace nmt::api
