#include "scoring/metrics/chrf.h"

#include <algorithm>

#include "base/unicode.h"
#include "scoring/metrics/ngrams.h"
#include "scoring/python/python_number.h"

namespace nmt::scoring {
namespace {

/// The formula over counts [hypothesis, reference, match] of every order. Number: double, or NumpyScalar holding
/// float32.
template <typename Number>
Number f_score(std::span<const Number> counts, int order, const ChrfOptions& options) {
  const Number eps = 1e-16;
  const double factor = static_cast<double>(options.beta) * static_cast<double>(options.beta);
  Number score = 0.0, mean_precision = 0.0, mean_recall = 0.0;
  int effective_order = 0;
  for (int i = 0; i < order; ++i) {
    const Number &in_hypothesis = counts[3 * i], &in_reference = counts[3 * i + 1], &matches = counts[3 * i + 2];
    const bool has_hypothesis = value_of(in_hypothesis) > 0, has_reference = value_of(in_reference) > 0;
    const Number precision = has_hypothesis ? matches / in_hypothesis : eps;
    const Number recall = has_reference ? matches / in_reference : eps;
    const Number denominator = Number(factor) * precision + recall;
    score += value_of(denominator) > 0 ? Number(1 + factor) * precision * recall / denominator : eps;
    if (has_hypothesis && has_reference) {
      mean_precision += precision;
      mean_recall += recall;
      ++effective_order;
    }
  }
  if (options.eps_smoothing) return Number(100.0) * score / Number(static_cast<double>(order));
  if (effective_order == 0) return 0.0;
  mean_precision /= Number(static_cast<double>(effective_order));
  mean_recall /= Number(static_cast<double>(effective_order));
  if (value_of(mean_precision + mean_recall) == 0) return 0.0;
  Number result = Number(1 + factor) * mean_precision * mean_recall;
  result /= Number(factor) * mean_precision + mean_recall;
  return Number(100.0) * result;
}

bool is_ascii_punctuation(char c) {
  return (c >= '!' && c <= '/') || (c >= ':' && c <= '@') || (c >= '[' && c <= '`') || (c >= '{' && c <= '~');
}

/// Words with one punctuation mark split from their end, else from their start.
void append_words(std::string_view word, std::vector<std::string_view>& words) {
  size_t first = 0;
  next_code_point(word, first);
  if (first == word.size()) {
    words.push_back(word);
  } else if (is_ascii_punctuation(word.back())) {
    words.push_back(word.substr(0, word.size() - 1));
    words.push_back(word.substr(word.size() - 1));
  } else if (is_ascii_punctuation(word.front())) {
    words.push_back(word.substr(0, 1));
    words.push_back(word.substr(1));
  } else {
    words.push_back(word);
  }
}

class ChrfSegmentScorer final : public SegmentScorer {
 public:
  explicit ChrfSegmentScorer(const ChrfOptions& options)
      : options_(options),
        char_order_(std::max(0, options.char_order)),
        word_order_(std::max(0, options.word_order)),
        matches_(std::max(char_order_, word_order_)) {}

  void set_references(std::span<const std::string_view> references) override {
    while (references_.size() < references.size()) references_.emplace_back(char_order_, word_order_);
    used_ = references.size();
    for (size_t i = 0; i < used_; ++i) {
      Reference& reference = references_[i];
      read(references[i], reference.text);
      reference.characters.clear();
      reference.characters.add_reference(characters_);
      reference.length = characters_.size();
      reference.words.clear();
      reference.words.add_reference(words_);
      reference.word_count = words_.size();
    }
  }

  void statistics(std::string_view hypothesis, std::span<double> out) override {
    read(hypothesis, hypothesis_text_);
    double best = -1;
    counts_.resize(out.size());
    for (size_t i = 0; i < used_; ++i) {
      count(references_[i]);
      const double score = f_score<double>(counts_, options_.char_order + options_.word_order, options_);
      if (i > 0 && !(score > best)) continue;
      best = score;
      std::copy(counts_.begin(), counts_.end(), out.begin());
    }
  }

 private:
  struct Reference {
    Reference(int char_order, int word_order) : characters(char_order), words(word_order) {}
    std::string text;
    NgramMatcher characters;
    WordMatcher words;
    size_t length = 0, word_count = 0;
  };

  /// Fills characters_ and words_; these are views into `text`.
  void read(std::string_view line, std::string& text) {
    if (options_.lowercase) {
      text = lower_case(line);
    } else {
      text.assign(line);
    }
    characters_.clear();
    append_code_points(text, options_.whitespace ? WhiteSpace::kKeep : WhiteSpace::kDrop, characters_);
    words_.clear();
    if (word_order_ == 0) return;
    split_words(text, raw_words_);
    for (const std::string_view word : raw_words_) append_words(word, words_);
  }

  void count(Reference& reference) {
    reference.characters.match(characters_, std::span(matches_).first(char_order_));
    size_t column = 0;
    const auto add = [&](size_t in_hypothesis, size_t in_reference, int order) {
      for (int n = 1; n <= order; ++n) {
        const auto ngrams = [n](size_t length) {
          return length >= static_cast<size_t>(n) ? length - n + 1 : size_t{0};
        };
        // Without n-grams in the reference, those of the hypothesis do not count.
        counts_[column++] = ngrams(in_reference) > 0 ? static_cast<double>(ngrams(in_hypothesis)) : 0.0;
        counts_[column++] = static_cast<double>(ngrams(in_reference));
        counts_[column++] = static_cast<double>(matches_[n - 1]);
      }
    };
    add(characters_.size(), reference.length, char_order_);
    if (word_order_ == 0) return;
    reference.words.match(words_, std::span(matches_).first(word_order_));
    add(words_.size(), reference.word_count, word_order_);
  }

  ChrfOptions options_;
  int char_order_, word_order_;
  std::vector<int64_t> matches_;
  std::vector<Reference> references_;
  size_t used_ = 0;
  std::string hypothesis_text_;
  std::vector<uint32_t> characters_;
  std::vector<std::string_view> raw_words_, words_;
  std::vector<double> counts_;
};

}  // namespace

std::string Chrf::name() const {
  return "chrF" + std::to_string(options_.beta) + std::string(std::max(0, options_.word_order), '+');
}

int Chrf::columns() const { return 3 * (std::max(0, options_.char_order) + std::max(0, options_.word_order)); }

std::unique_ptr<SegmentScorer> Chrf::segment_scorer() const { return std::make_unique<ChrfSegmentScorer>(options_); }

Score Chrf::score_of(std::span<const double> sums) const {
  Score score;
  score.name = name();
  score.score = f_score<double>(sums, options_.char_order + options_.word_order, options_);
  return score;
}

ResampleScore Chrf::score_of_resample(std::span<const float> sums) const {
  const std::vector<NumpyScalar> counts(sums.begin(), sums.end());
  const NumpyScalar score = f_score<NumpyScalar>(counts, options_.char_order + options_.word_order, options_);
  return {.value = score.value(), .is_float32 = score.is_float32()};
}

Signature Chrf::signature(const SignatureFacts& facts) const {
  return Signature(facts, {{"case", "c", options_.lowercase ? "lc" : "mixed"},
                           {"eff", "e", options_.eps_smoothing ? "no" : "yes"},
                           {"nc", "nc", std::to_string(options_.char_order)},
                           {"nw", "nw", std::to_string(options_.word_order)},
                           {"space", "s", options_.whitespace ? "yes" : "no"}});
}

}  // namespace nmt::scoring
