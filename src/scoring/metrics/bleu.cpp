#include "scoring/metrics/bleu.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <type_traits>

#include "base/error.h"
#include "base/unicode.h"
#include "scoring/metrics/ngrams.h"
#include "scoring/python/python_number.h"

namespace nmt::scoring {
namespace {

class BleuSegmentScorer final : public SegmentScorer {
 public:
  BleuSegmentScorer(const BleuOptions& options, std::shared_ptr<const BleuTokenizer> tokenizer)
      : options_(options), tokenizer_(std::move(tokenizer)), counter_(options.max_order) {}

  void set_references(std::span<const std::string_view> references) override {
    counter_.clear();
    texts_.resize(std::max(texts_.size(), references.size()));  // the counter looks into them until the next segment
    for (size_t i = 0; i < references.size(); ++i) {
      split(references[i], texts_[i]);
      counter_.add_reference(words_);
    }
  }

  void statistics(std::string_view hypothesis, std::span<double> out) override {
    split(hypothesis, hypothesis_text_);
    counter_.count(words_, out);
  }

 private:
  /// Fills words_ with the tokens, views into `text`.
  void split(std::string_view line, std::string& text) {
    if (options_.lowercase) {
      lowered_ = lower_case(line);
      line = lowered_;
    }
    tokenizer_->tokenize(strip_end(line), text);
    split_words(text, words_);
  }

  BleuOptions options_;
  std::shared_ptr<const BleuTokenizer> tokenizer_;
  BleuCounter counter_;
  std::vector<std::string> texts_;
  std::string hypothesis_text_, lowered_;
  std::vector<std::string_view> words_;
};

double default_value(BleuSmoothing smoothing) { return smoothing == BleuSmoothing::kFloor ? 0.1 : 1.0; }

/// What adding k to a count gives: NumPy's integers (approximate randomisation) drop the fraction.
enum class Counts { kReal, kWhole };

/// The formula over counts of one type: double, or NumpyScalar holding float32.
template <typename Number>
class BleuFormula {
 public:
  BleuFormula(const BleuOptions& options, Counts counts) : options_(options), counts_(counts) {}

  double operator()(double hypothesis_length, double reference_length, std::vector<Number>& correct,
                    std::vector<Number>& total) {
    precisions.assign(options_.max_order, 0.0);
    brevity_penalty = 1.0;
    if (hypothesis_length < reference_length) {
      brevity_penalty = hypothesis_length > 0 ? std::exp(1 - reference_length / hypothesis_length) : 0.0;
    }
    const auto is_zero = [](const Number& count) { return value_of(count) == 0; };
    if (std::all_of(correct.begin(), correct.end(), is_zero)) return 0.0;
    const int effective_order = smooth(correct, total);
    std::vector<double> logarithms;
    for (int n = 0; n < effective_order; ++n) {
      const double precision = value_of(precisions[n]);
      if (precision < 0) {
        throw Error(fmt::format("-sv {}: makes a precision negative; choose a larger smoothing value",
                                repr(options_.smoothing_value.value_or(0))));
      }
      logarithms.push_back(precision == 0 ? kLogOfZero : std::log(precision));
    }
    return brevity_penalty * std::exp(compensated_sum(logarithms) / effective_order);
  }

  std::vector<Number> precisions;  // in percent
  double brevity_penalty = 1;

 private:
  static constexpr double kLogOfZero = -9999999999.0;

  /// Fills the precisions; returns how many of them count.
  int smooth(std::vector<Number>& correct, std::vector<Number>& total) {
    const double value = options_.smoothing_value.value_or(default_value(options_.smoothing));
    int effective_order = options_.max_order;
    double divisor = 1;  // of exponential smoothing
    for (int n = 0; n < options_.max_order; ++n) {
      if (options_.smoothing == BleuSmoothing::kAddK && n > 0) {
        correct[n] = add(correct[n], value);
        total[n] = add(total[n], value);
      }
      if (value_of(total[n]) == 0) break;
      if (options_.effective_order) effective_order = n + 1;
      if (value_of(correct[n]) != 0) {
        precisions[n] = Number(100.0) * correct[n] / total[n];
      } else if (options_.smoothing == BleuSmoothing::kExponential) {
        divisor *= 2;
        precisions[n] = Number(100.0) / (Number(divisor) * total[n]);
      } else if (options_.smoothing == BleuSmoothing::kFloor) {
        precisions[n] = Number(100.0 * value) / total[n];
      }
    }
    return effective_order;
  }

  Number add(const Number& count, double value) const {
    const Number sum = count + Number(value);
    if (counts_ == Counts::kWhole) return Number(std::trunc(value_of(sum)));
    return sum;
  }

  const BleuOptions& options_;
  Counts counts_;
};

/// "57.7/20.0/11.9/8.0 (BP = 1.000 ratio = 1.001 hyp_len = 62496 ref_len = 61287)"
std::string details_of(const Score& score) {
  std::string precisions;
  for (const double precision : score.precisions) precisions += (precisions.empty() ? "" : "/") + fixed(precision, 1);
  const double ratio =
      score.reference_length ? static_cast<double>(score.hypothesis_length) / score.reference_length : 0.0;
  return fmt::format("{} (BP = {} ratio = {} hyp_len = {} ref_len = {})", precisions, fixed(score.brevity_penalty, 3),
                     fixed(ratio, 3), score.hypothesis_length, score.reference_length);
}

/// Sums of statistics taken apart.
template <typename Number, typename Sum>
std::pair<std::vector<Number>, std::vector<Number>> counts_of(std::span<const Sum> sums, int max_order) {
  const auto matches = sums.subspan(2, max_order), totals = sums.subspan(2 + max_order, max_order);
  return {{matches.begin(), matches.end()}, {totals.begin(), totals.end()}};
}

}  // namespace

Bleu::Bleu(BleuOptions options)
    : options_(std::move(options)), tokenizer_(make_tokenizer(options_.tokenizer, options_.sentencepiece_model)) {
  if (options_.max_order < 1) throw Error(fmt::format("BLEU: max_order {}: at least 1", options_.max_order));
}

std::unique_ptr<SegmentScorer> Bleu::segment_scorer() const {
  return std::make_unique<BleuSegmentScorer>(options_, tokenizer_);
}

Score Bleu::score_of(std::span<const double> sums) const {
  Score score;
  score.name = name();
  std::tie(score.correct, score.total) = counts_of<double>(sums, options_.max_order);
  score.hypothesis_length = static_cast<int64_t>(sums[0]);
  score.reference_length = static_cast<int64_t>(sums[1]);
  BleuFormula<double> formula(options_, Counts::kReal);
  score.score = formula(sums[0], sums[1], score.correct, score.total);
  score.precisions = formula.precisions;
  score.brevity_penalty = formula.brevity_penalty;
  score.details = details_of(score);
  return score;
}

ResampleScore Bleu::score_of_resample(std::span<const float> sums) const {
  auto [correct, total] = counts_of<NumpyScalar>(sums, options_.max_order);
  return {.value = BleuFormula<NumpyScalar>(options_, Counts::kReal)(sums[0], sums[1], correct, total)};
}

double Bleu::score_of_trial(std::span<const double> sums) const {
  auto [correct, total] = counts_of<double>(sums, options_.max_order);
  return BleuFormula<double>(options_, Counts::kWhole)(sums[0], sums[1], correct, total);
}

Signature Bleu::signature(const SignatureFacts& facts) const {
  std::string smoothing = name_of(options_.smoothing);
  if (options_.smoothing == BleuSmoothing::kFloor || options_.smoothing == BleuSmoothing::kAddK)
    smoothing += "[" + fixed(options_.smoothing_value.value_or(default_value(options_.smoothing)), 2) + "]";
  return Signature(facts, {{"case", "c", options_.lowercase ? "lc" : "mixed"},
                           {"eff", "e", options_.effective_order ? "yes" : "no"},
                           {"tok", "tok", tokenizer_->signature()},
                           {"smooth", "s", smoothing}});
}

std::unique_ptr<Metric> Bleu::for_sentences() const {
  auto metric = std::make_unique<Bleu>(*this);
  metric->options_.effective_order = true;
  return metric;
}

}  // namespace nmt::scoring
