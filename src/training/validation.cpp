#include "training/validation.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>

#include "base/error.h"
#include "base/random.h"
#include "config/config.h"
#include "config/languages.h"
#include "data/batches.h"
#include "models/loss.h"
#include "scoring/corpus/corpus_score.h"
#include "scoring/metrics/bleu.h"
#include "scoring/metrics/chrf.h"
#include "text/codec/codec.h"
#include "text/codec/language_tags.h"
#include "training/loop/interval_meter.h"
#include "training/loop/objectives.h"
#include "translation/attention_grids.h"
#include "translation/translator.h"

namespace nmt {
namespace {

constexpr uint64_t kValidationSample = 0x73616d706c65;  // keys the random numbers of samples
constexpr int64_t kLongestPicture = 100;                // pieces a side: more would not be readable

// Decoding is done in float32 on the CPU, whatever training computes in: there a translation does not depend on its
// batch.
class DecodingType {
 public:
  DecodingType(TranslationModel& model, torch::Device device) : model_(model), before_(model.compute_type()) {
    if (device.is_cpu()) model_.set_compute_type(torch::kFloat32);
  }
  ~DecodingType() { model_.set_compute_type(before_); }
  DecodingType(const DecodingType&) = delete;

 private:
  TranslationModel& model_;
  at::ScalarType before_;
};

// Whether the model has places for a pair: learned positions end somewhere.
bool has_places(const TranslationModel& model, const PreparedCorpus& corpus, int64_t pair) {
  return fits_into(model.limits(), source_length(std::ssize(corpus.source(pair)), corpus.source_form().markers),
                   std::ssize(corpus.target(pair)) + 1);
}

}  // namespace

Validator::Validator(std::shared_ptr<const PreparedCorpus> corpus, const TextCodec& codec, const Config& config,
                     torch::Device device, std::vector<NamedCorpus> more)
    : corpus_(std::move(corpus)),
      more_(std::move(more)),
      codec_(codec),
      config_(config),
      device_(device),
      smoothing_(smoothing_of(config.training)) {
  for (const int64_t line : config.validation.attention_lines)
    if (line > corpus_->size())
      throw Error(
          fmt::format("validation.attention_lines: {}: the validation set has {} sentences; give numbers up to that",
                      line, corpus_->size()));
}

void Validator::require_places(const TranslationModel& model) const {
  const auto sets = validation_sets(config_.data);
  for (size_t i = 0; i <= more_.size(); ++i) {
    const auto& corpus = i == 0 ? *corpus_ : *more_[i - 1].corpus;
    int64_t pair = 0;
    while (pair < corpus.size() && !has_places(model, corpus, pair)) ++pair;
    if (pair < corpus.size()) continue;
    const auto limits = model.limits();
    const auto name = i < sets.size() && !sets[i].text.name.empty() ? fmt::format(" ({})", sets[i].text.name) : "";
    throw Error(fmt::format(
        "{}{}: none of its {} pairs has places in the model ({} tokens of the source, {} of the target): give another "
        "set, or more model.max_positions",
        i < sets.size() ? sets[i].source_option : "data.eval", name, corpus.size(), limits.source, limits.target));
  }
}

bool Validator::wants(ValidationMetric metric) const { return config_.validation.metrics.contains(metric); }

TranslatorOptions Validator::options_for(const TranslationModel& model) const {
  auto options = translator_options(config_);
  limit_to(model, codec_.options().source_markers, options);
  return options;
}

ValidationReport Validator::validate(TranslationModel& model, const std::function<void()>& between,
                                     int64_t update) const {
  const auto sets = validation_sets(config_.data);
  const auto codec_of = [&](size_t set) {
    return sets.empty() ? codec_ : codec_for(codec_, of_set(config_.data, sets.at(set).text));
  };
  auto report = figures(model, *corpus_, codec_of(0), between);
  if (sets.size() > 1) report.set = sets.front().text.name;
  for (const auto& [name, corpus] : more_) {
    auto& other = report.others.emplace_back(figures(model, *corpus, codec_of(report.others.size() + 1), between));
    other.set = name;
    for (auto* texts : {&other.sources, &other.references, &other.hypotheses}) texts->clear();
  }
  add_samples(update, report);
  add_attention(model, report);
  return report;
}

ValidationReport Validator::figures(TranslationModel& model, const PreparedCorpus& corpus, const TextCodec& codec,
                                    const std::function<void()>& between) const {
  const auto start = std::chrono::steady_clock::now();
  ValidationReport report;
  add_losses(model, corpus, report);
  const bool translates = wants(ValidationMetric::kBleu) || wants(ValidationMetric::kChrf);
  // The search would take such weights for damaged ones.
  if (translates && !std::isfinite(report.loss))
    throw Error(fmt::format("validation: the loss is not finite: the model has diverged; {}", kDivergenceAdvice));
  if (translates) add_translation_scores(model, corpus, codec, report, between);
  report.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return report;
}

void Validator::add_losses(TranslationModel& model, const PreparedCorpus& corpus, ValidationReport& report) const {
  std::vector<Batch> batches;
  for (auto& pairs : plan_by_length(corpus, kHeldOutBatchTokens)) {
    report.too_long += std::erase_if(pairs, [&](int64_t pair) { return !has_places(model, corpus, pair); });
    if (!pairs.empty()) batches.push_back(make_batch(corpus, pairs));
  }
  const auto totals = evaluate(model, batches, smoothing_, device_, config_.validation.teacher_forcing);
  report.loss = totals.mean_loss();
  report.perplexity = totals.perplexity();
  report.accuracy = totals.accuracy();
}

// The first translations, and one that is drawn from the others: the same whenever this update is validated.
void Validator::add_samples(int64_t update, ValidationReport& report) const {
  const int64_t count = std::ssize(report.hypotheses), first = std::min(config_.validation.samples, count);
  const auto add = [&](int64_t i) {
    report.samples.push_back({report.sources[i], report.references[i], report.hypotheses[i]});
  };
  for (int64_t i = 0; i < first; ++i) add(i);
  if (config_.validation.random_sample && count > first) {
    CounterRandom random({static_cast<uint64_t>(config_.run.seed), kValidationSample, static_cast<uint64_t>(update)});
    report.drawn = first + static_cast<int64_t>(random.below(count - first));
    add(report.drawn);
  }
  if (corpus_->size() == 0) return;
  for (const int32_t id : corpus_->source(report.drawn)) {
    if (!report.source_pieces.empty()) report.source_pieces += ' ';
    report.source_pieces += codec_.source().piece(id);
  }
}

void Validator::add_attention(TranslationModel& model, ValidationReport& report) const {
  const auto& validation = config_.validation;
  for (int64_t line = 1; line <= std::min(validation.attention_samples, corpus_->size()); ++line)
    report.attention_lines.push_back(line);
  for (const int64_t line : validation.attention_lines)
    if (std::ranges::find(report.attention_lines, line) == report.attention_lines.end())
      report.attention_lines.push_back(line);
  for (const int64_t line : report.attention_lines) {
    const int64_t i = line - 1;
    const auto source = corpus_->source(i), target = corpus_->target(i);
    const bool can_be_drawn = has_places(model, *corpus_, i) && std::ssize(source) <= kLongestPicture &&
                              std::ssize(target) <= kLongestPicture;
    report.attention.push_back(can_be_drawn ? attention_grids(model, codec_, source, target)
                                            : std::vector<AttentionGrid>());
  }
}

void Validator::add_translation_scores(TranslationModel& model, const PreparedCorpus& corpus, const TextCodec& codec,
                                       ValidationReport& report, const std::function<void()>& between) const {
  const int64_t limit = config_.validation.max_sentences;
  const int64_t count = limit > 0 ? std::min(limit, corpus.size()) : corpus.size();
  std::vector<std::string> sources, references;
  for (int64_t i = 0; i < count; ++i) {
    sources.emplace_back(corpus.source_text(i));
    references.emplace_back(corpus.target_text(i));
  }
  auto options = options_for(model);
  if (codec.options().tags_both_sides || config_.data.tags != LanguageTags::kNone)  // the codec tells them
    options.search.source_language = options.search.target_language = "";
  options.search.beam_size = config_.validation.beam_size;
  options.search.diversity_groups = 1;  // what may not go with that beam
  options.search.sampling = false;
  options.search.shortlist = 0;  // the model itself is measured
  options.search.batch_size = sentences_per_validation_search(config_, device_);
  const DecodingType decoding(model, device_);
  const auto progress = [&](int64_t) {
    if (between) between();
  };
  const auto translations = Translator(model, codec, options).translate(sources, {.progress = progress});
  std::vector<std::string> hypotheses;
  for (const auto& translation : translations) hypotheses.push_back(translation.text);

  const scoring::CorpusOptions one_thread{.threads = 1};
  if (wants(ValidationMetric::kBleu)) {
    const auto bleu = scoring::score_corpus(scoring::Bleu(), hypotheses, {references}, one_thread);
    report.has_bleu = true;
    report.bleu = bleu.score;
    report.bleu_line = bleu.format();
  }
  if (wants(ValidationMetric::kChrf)) {
    const auto chrf = scoring::score_corpus(scoring::Chrf(), hypotheses, {references}, one_thread);
    report.has_chrf = true;
    report.chrf = chrf.score;
    report.chrf_line = chrf.format();
  }
  report.sources = std::move(sources), report.references = std::move(references);
  report.hypotheses = std::move(hypotheses);
}

int64_t sentences_per_validation_search(const Config& config, torch::Device device) {
  constexpr int64_t kFewest = 64;
  return device.is_cpu() ? kFewest : std::max(kFewest, config.decoding.batch_size);
}

}  // namespace nmt
