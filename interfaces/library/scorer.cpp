#include "nmt/scorer.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "base/error.h"
#include "base/threads.h"
#include "config/value.h"
#include "library/inner/access.h"
#include "library/inner/guard.h"
#include "scoring/corpus/corpus_score.h"
#include "scoring/corpus/paired_test.h"
#include "scoring/metrics/bleu.h"
#include "scoring/metrics/chrf.h"
#include "scoring/metrics/ter.h"

namespace nmt::api {

class NMT_NOT_EXPORTED Scorer::State {
 public:
  std::shared_ptr<const scoring::Metric> metric;
};

std::shared_ptr<const scoring::Metric> Access::metric(const Scorer& scorer) { return scorer.state_->metric; }

namespace {

scoring::BleuSmoothing smoothing_of(const std::string& name) {
  constexpr std::array kNames = {
      std::pair("none", scoring::BleuSmoothing::kNone), std::pair("floor", scoring::BleuSmoothing::kFloor),
      std::pair("add-k", scoring::BleuSmoothing::kAddK), std::pair("exp", scoring::BleuSmoothing::kExponential)};
  for (const auto& [known, smoothing] : kNames)
    if (name == known) return smoothing;
  throw nmt::Error(fmt::format("smooth_method {}: one of none, floor, add-k, exp", shown(name)));
}

constexpr int64_t kMaxResamples = 1'000'000;  // more would say no more, and at some number fill the memory

scoring::Seed seed_of(const std::string& text) {
  if (text.empty()) return scoring::Seed::from_environment();
  try {
    return scoring::Seed::parse(text);
  } catch (const nmt::Error&) {  // it speaks of the environment variable
    throw nmt::Error(fmt::format("seed '{}': give a whole number from 0 on, or none", shown(text)));
  }
}

scoring::CorpusOptions inner_options(const CorpusOptions& options) {
  if (options.bootstrap < 0 || options.bootstrap == 1 || options.bootstrap > kMaxResamples)
    throw nmt::Error(
        fmt::format("bootstrap {}: use 2 to {} resamples, or 0 for none", options.bootstrap, kMaxResamples));
  check_threads("threads", options.threads);
  return {.threads = options.threads,
          .bootstrap = options.bootstrap > 0 ? options.bootstrap : 1,
          .seed = seed_of(options.seed)};
}

Confidence to_confidence(const scoring::ConfidenceInterval& interval) { return {interval.mean, interval.half_width}; }

Score to_score(const scoring::Score& found) {
  Score score;
  score.name = found.name;
  score.score = found.score;
  if (found.signature) {
    score.signature = found.signature->text();
    score.short_signature = found.signature->short_text();
  }
  score.text = found.format();
  score.json = found.format_json();
  if (found.confidence) score.confidence = to_confidence(*found.confidence);
  score.counts = found.correct;
  score.totals = found.total;
  score.precisions = found.precisions;
  score.brevity_penalty = found.brevity_penalty;
  score.system_length = found.hypothesis_length;
  score.reference_length = found.reference_length;
  score.edits = found.edits;
  score.reference_words = found.reference_words;
  return score;
}

constexpr int kMaxNgramOrder = 1000;  // of n-grams, as in nmt-score: more would fill the memory

}  // namespace

Scorer::Scorer(const BleuOptions& options) {
  guarded([&] {
    if (options.max_ngram_order < 1 || options.max_ngram_order > kMaxNgramOrder)
      throw nmt::Error(fmt::format("max_ngram_order {}: use 1 to {}", options.max_ngram_order, kMaxNgramOrder));
    if (const auto value = options.smooth_value; value && !(*value >= 0 && *value <= scoring::kMaxSmoothing))
      throw nmt::Error(fmt::format("smooth_value {}: use a number from 0 to {}", *value, scoring::kMaxSmoothing));
    auto state = std::make_shared<State>();
    state->metric =
        std::make_shared<const scoring::Bleu>(scoring::BleuOptions{.tokenizer = options.tokenizer,
                                                                   .sentencepiece_model = options.sentencepiece_model,
                                                                   .lowercase = options.lowercase,
                                                                   .smoothing = smoothing_of(options.smooth_method),
                                                                   .smoothing_value = options.smooth_value,
                                                                   .max_order = options.max_ngram_order,
                                                                   .effective_order = options.effective_order});
    state_ = std::move(state);
  });
}

Scorer::Scorer(const ChrfOptions& options) {
  guarded([&] {
    if (const int order = std::max(options.char_order, options.word_order); order > kMaxNgramOrder)
      throw nmt::Error(
          fmt::format("n-grams of order {}: at most {} for char_order and word_order", order, kMaxNgramOrder));
    if (options.char_order < 0 || options.word_order < 0 || options.char_order + options.word_order == 0)
      throw nmt::Error("chrF needs n-grams of some order: raise char_order or word_order");
    if (options.beta < 0) throw nmt::Error(fmt::format("beta {}: use 0 or more", options.beta));
    auto state = std::make_shared<State>();
    state->metric = std::make_shared<const scoring::Chrf>(scoring::ChrfOptions{.char_order = options.char_order,
                                                                               .word_order = options.word_order,
                                                                               .beta = options.beta,
                                                                               .lowercase = options.lowercase,
                                                                               .whitespace = options.whitespace,
                                                                               .eps_smoothing = options.eps_smoothing});
    state_ = std::move(state);
  });
}

Scorer::Scorer(const TerOptions& options) {
  guarded([&] {
    auto state = std::make_shared<State>();
    state->metric = std::make_shared<const scoring::Ter>(scoring::TerOptions{.normalized = options.normalized,
                                                                             .no_punctuation = options.no_punctuation,
                                                                             .asian_support = options.asian_support,
                                                                             .case_sensitive = options.case_sensitive});
    state_ = std::move(state);
  });
}

Score Scorer::corpus_score(const std::vector<std::string>& hypotheses, const References& references,
                           const CorpusOptions& options) const {
  return guarded(
      [&] { return to_score(scoring::score_corpus(*state_->metric, hypotheses, references, inner_options(options))); });
}

Score Scorer::corpus_score_optional(const std::vector<std::string>& hypotheses, const OptionalReferences& references,
                                    const CorpusOptions& options) const {
  return guarded([&] {
    return to_score(scoring::score_corpus_optional(*state_->metric, hypotheses, references, inner_options(options)));
  });
}

Score Scorer::sentence_score(const std::string& hypothesis, const std::vector<std::string>& references) const {
  return guarded([&] { return to_score(scoring::score_sentence(*state_->metric, hypothesis, references)); });
}

std::string Scorer::name() const { return state_->metric->name(); }

std::vector<PairedScores> paired_test(const std::vector<std::vector<std::string>>& systems,
                                      const References& references, const std::vector<Scorer>& scorers,
                                      const PairedTestOptions& options) {
  return guarded([&] {
    if (options.samples < 0 || options.samples > kMaxResamples)
      throw nmt::Error(
          fmt::format("samples {}: use 1 to {}, or 0 for as many as by default", options.samples, kMaxResamples));
    check_threads("threads", options.threads);
    std::vector<scoring::NamedSystem> named;
    for (const auto& hypotheses : systems) named.push_back({fmt::format("system {}", named.size() + 1), hypotheses});
    std::vector<std::shared_ptr<const scoring::Metric>> metrics;
    for (const auto& scorer : scorers) metrics.push_back(Access::metric(scorer));
    const auto table = scoring::paired_test(
        named, references, metrics,
        {.kind = options.approximate_randomization ? scoring::PairedTestKind::kApproximateRandomization
                                                   : scoring::PairedTestKind::kBootstrap,
         .samples = options.samples,
         .seed = seed_of(options.seed),
         .threads = options.threads});
    std::vector<PairedScores> results;
    for (const auto& column : table.columns) {
      PairedScores scores{column.metric, column.signature.text(), {}};
      for (const auto& found : column.results) {
        PairedResult result;
        result.score = found.score;
        result.p_value = found.p_value;
        if (found.mean && found.half_width) result.confidence = Confidence{*found.mean, *found.half_width};
        scores.results.push_back(result);
      }
      results.push_back(std::move(scores));
    }
    return results;
  });
}

}  // namespace nmt::api
