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

/// One of the three is there.
class NMT_NOT_EXPORTED Scorer::State {
 public:
  std::shared_ptr<const scoring::Bleu> bleu = {};
  std::shared_ptr<const scoring::Chrf> chrf = {};
  std::shared_ptr<const scoring::Ter> ter = {};

  std::shared_ptr<const scoring::Metric> metric() const {
    if (bleu) return bleu;
    if (chrf) return chrf;
    return ter;
  }
};

std::shared_ptr<const scoring::Metric> Access::metric(const Scorer& scorer) { return scorer.state_->metric(); }

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
  return score;
}

Score to_score(const scoring::BleuScore& found) {
  Score score = to_score(static_cast<const scoring::Score&>(found));
  score.counts = found.correct;
  score.totals = found.total;
  score.precisions = found.precisions;
  score.brevity_penalty = found.brevity_penalty;
  score.system_length = found.hypothesis_length;
  score.reference_length = found.reference_length;
  return score;
}

Score to_score(const scoring::TerScore& found) {
  Score score = to_score(static_cast<const scoring::Score&>(found));
  score.edits = found.edits;
  score.reference_words = found.reference_length;
  return score;
}

/// The details of BLEU and TER from the sums of their statistics.
template <typename Metric>
Score detailed(const Metric& metric, const scoring::Score& score, const std::vector<double>& sums) {
  if constexpr (std::is_same_v<Metric, scoring::Bleu>) {
    auto details = metric.bleu_of(sums);
    static_cast<scoring::Score&>(details) = score;
    return to_score(details);
  } else if constexpr (std::is_same_v<Metric, scoring::Ter>) {
    auto details = metric.ter_of(sums);
    static_cast<scoring::Score&>(details) = score;
    return to_score(details);
  } else {
    return to_score(score);
  }
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
    state->bleu =
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
    state->chrf = std::make_shared<const scoring::Chrf>(scoring::ChrfOptions{.char_order = options.char_order,
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
    state->ter = std::make_shared<const scoring::Ter>(scoring::TerOptions{.normalized = options.normalized,
                                                                          .no_punctuation = options.no_punctuation,
                                                                          .asian_support = options.asian_support,
                                                                          .case_sensitive = options.case_sensitive});
    state_ = std::move(state);
  });
}

namespace {

template <typename Texts>
Score corpus_score_of(const Scorer& scorer, const std::vector<std::string>& hypotheses, const Texts& references,
                      const CorpusOptions& options) {
  return guarded([&] {
    const auto metric = Access::metric(scorer);
    std::vector<double> sums;
    const auto score = scoring::score_corpus(*metric, hypotheses, references, inner_options(options), &sums);
    if (const auto* bleu = dynamic_cast<const scoring::Bleu*>(metric.get())) return detailed(*bleu, score, sums);
    if (const auto* ter = dynamic_cast<const scoring::Ter*>(metric.get())) return detailed(*ter, score, sums);
    return to_score(score);
  });
}

}  // namespace

Score Scorer::corpus_score(const std::vector<std::string>& hypotheses, const References& references,
                           const CorpusOptions& options) const {
  return corpus_score_of(*this, hypotheses, references, options);
}

Score Scorer::corpus_score_optional(const std::vector<std::string>& hypotheses, const OptionalReferences& references,
                                    const CorpusOptions& options) const {
  return corpus_score_of(*this, hypotheses, references, options);
}

Score Scorer::sentence_score(const std::string& hypothesis, const std::vector<std::string>& references) const {
  return guarded([&] {
    if (state_->bleu) return to_score(state_->bleu->sentence_score(hypothesis, references));
    if (state_->ter) return to_score(state_->ter->sentence_score(hypothesis, references));
    return to_score(state_->chrf->sentence_score(hypothesis, references));
  });
}

std::string Scorer::name() const { return state_->metric()->name(); }

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
