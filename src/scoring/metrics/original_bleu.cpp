#include "scoring/metrics/original_bleu.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <vector>

#include "base/unicode.h"
#include "scoring/metrics/ngrams.h"
#include "scoring/python/python_number.h"

namespace nmt::scoring {
namespace {

constexpr int kOrders = 4;
constexpr double kLogOfZero = -9999999999.0;  // of multi-bleu.perl
// What multi-bleu.perl prints where the references have no words.
constexpr std::string_view kNoReferenceWords = "0/0/0/0 (BP=0, ratio=0, hyp_len=0, ref_len=0)";
constexpr std::string_view kPerlSpaces = " \t\n\v\f\r";

/// Perl's split without arguments, on bytes.
void split_at_perl_spaces(std::string_view line, std::vector<std::string_view>& words) {
  words.clear();
  for (size_t begin = line.find_first_not_of(kPerlSpaces); begin != std::string_view::npos;) {
    const size_t end = std::min(line.find_first_of(kPerlSpaces, begin), line.size());
    words.push_back(line.substr(begin, end - begin));
    begin = line.find_first_not_of(kPerlSpaces, end);
  }
}

/// Perl's split(/ /): empty words stay, but for those at the end.
void split_at_single_spaces(std::string_view line, std::vector<std::string_view>& words) {
  words.clear();
  if (line.find_first_not_of(' ') == std::string_view::npos) return;
  line = line.substr(0, line.find_last_not_of(' ') + 1);
  for (size_t begin = 0; begin <= line.size();) {
    const size_t end = std::min(line.find(' ', begin), line.size());
    words.push_back(line.substr(begin, end - begin));
    begin = end + 1;
  }
}

class OriginalSegmentScorer final : public SegmentScorer {
 public:
  explicit OriginalSegmentScorer(OriginalForm form)
      : form_(form),
        counter_(kOrders, form == OriginalForm::kMultiBleuLegacy ? ClosestLength::kFirst : ClosestLength::kShorter) {}

  void set_references(std::span<const std::string_view> references) override {
    counter_.clear();
    for (const std::string_view reference : references) {
      form_ == OriginalForm::kMultiBleuLegacy ? split_at_single_spaces(reference, words_) : split(reference);
      counter_.add_reference(words_);
    }
  }

  void statistics(std::string_view hypothesis, std::span<double> out) override {
    split(hypothesis);
    counter_.count(words_, out);
    if (form_ != OriginalForm::kNltk) return;
    for (double& ngrams : out.last(kOrders)) ngrams = std::max(ngrams, 1.0);
  }

 private:
  void split(std::string_view line) {
    form_ == OriginalForm::kNltk ? split_words(line, words_) : split_at_perl_spaces(line, words_);
  }

  OriginalForm form_;
  BleuCounter counter_;
  std::vector<std::string_view> words_;
};

/// The figures that make up the score; shares, not percent.
struct Figures {
  std::array<double, kOrders> precisions{};
  double brevity_penalty = 1, ratio = 0, bleu = 0;
};

template <typename Number>
Figures multi_bleu(std::span<const Number> sums) {
  Figures figures;
  const double length = sums[0], reference_length = sums[1];
  double logarithms = 0;
  for (int n = 0; n < kOrders; ++n) {
    const double matches = sums[2 + n], total = sums[2 + kOrders + n];
    figures.precisions[n] = total > 0 ? matches / total : 0;
    logarithms += figures.precisions[n] > 0 ? std::log(figures.precisions[n]) : kLogOfZero;
  }
  if (reference_length == 0) return {.brevity_penalty = 0};
  figures.ratio = length / reference_length;
  if (length < reference_length) figures.brevity_penalty = length > 0 ? std::exp(1 - reference_length / length) : 0;
  figures.bleu = figures.brevity_penalty * std::exp(logarithms / kOrders);
  return figures;
}

/// The operations of NLTK 3.10.4 in their order, for the last digit.
template <typename Number>
double nltk_bleu(std::span<const Number> sums) {
  if (sums[2] == 0) return 0;
  const double length = sums[0], reference_length = sums[1];
  std::array<double, kOrders> negated;  // precisions are at most 1
  for (int n = 0; n < kOrders; ++n) {
    const double matches = sums[2 + n], total = sums[2 + kOrders + n];
    // Without smoothing NLTK puts the smallest normal number for an order without a match: the score is tiny, not 0.
    const double precision = matches > 0 ? matches / total : std::numeric_limits<double>::min();
    negated[n] = -(0.25 * std::log(precision));
  }
  const double brevity_penalty = length > reference_length ? 1 : std::exp(1 - reference_length / length);
  return brevity_penalty * std::exp(-exact_sum(negated));
}

}  // namespace

std::unique_ptr<SegmentScorer> OriginalBleu::segment_scorer() const {
  return std::make_unique<OriginalSegmentScorer>(form_);
}

Score OriginalBleu::score_of(std::span<const double> sums) const {
  Score score;
  score.name = name();
  if (form_ == OriginalForm::kNltk) {
    score.score = 100 * nltk_bleu(sums);
    const std::string figure = sums[2] == 0 ? "0" : repr(score.score);  // without a match NLTK returns an integer
    score.original = {.figure = figure, .line = "Bleu Score = " + figure};
    return score;
  }
  if (form_ == OriginalForm::kMultiBleu && sums[1] == 0) {
    score.details = kNoReferenceWords;
    score.original = {.figure = "0", .line = "BLEU = 0, " + score.details};
    return score;
  }
  const Figures figures = multi_bleu(sums);
  const auto percent = [&](int n) { return fixed(100 * figures.precisions[n], 1); };
  score.score = 100 * figures.bleu;
  score.details = fmt::format("{}/{}/{}/{} (BP={}, {}={}", percent(0), percent(1), percent(2), percent(3),
                              fixed(figures.brevity_penalty, 3),
                              form_ == OriginalForm::kMultiBleuLegacy ? "ration" : "ratio", fixed(figures.ratio, 3));
  score.details +=
      form_ == OriginalForm::kMultiBleuLegacy
          ? ")"
          : fmt::format(", hyp_len={}, ref_len={})", static_cast<int64_t>(sums[0]), static_cast<int64_t>(sums[1]));
  const std::string figure = fixed(score.score, 2);
  score.original = {.figure = figure, .line = "BLEU = " + figure + ", " + score.details};
  return score;
}

ResampleScore OriginalBleu::score_of_resample(std::span<const float> sums) const {
  return {.value = 100 * (form_ == OriginalForm::kNltk ? nltk_bleu(sums) : multi_bleu(sums).bleu)};
}

Signature OriginalBleu::signature(const SignatureFacts& facts) const {
  return Signature(facts, {{"case", "c", "mixed"}, {"form", "f", name()}});
}

std::string_view without_last_character(std::string_view line) {
  while (!line.empty()) {
    const bool continues = is_continuation_byte(line.back());
    line.remove_suffix(1);
    if (!continues) break;
  }
  return line;
}

}  // namespace nmt::scoring
