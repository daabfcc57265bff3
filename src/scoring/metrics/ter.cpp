#include "scoring/metrics/ter.h"

#include <algorithm>

#include "base/code_points.h"
#include "base/words.h"
#include "scoring/metrics/ngrams.h"
#include "scoring/metrics/tercom_edits.h"
#include "scoring/python/numpy_scalar.h"
#include "scoring/tokenizers/tercom_tokenizer.h"

namespace nmt::scoring {
namespace {

class TerSegmentScorer final : public SegmentScorer {
 public:
  explicit TerSegmentScorer(const TerOptions& options) : options_(options) {}

  void set_references(std::span<const std::string_view> references) override {
    symbols_of_.clear();
    texts_.resize(std::max(texts_.size(), references.size()));
    references_.resize(references.size());
    for (size_t i = 0; i < references.size(); ++i) {
      tokenize_tercom(references[i], options_, texts_[i]);
      split_words(texts_[i], words_);
      if (options_.normalized) normalize_again(texts_[i]);
      references_[i].clear();
      for (const std::string_view word : words_) references_[i].push_back(symbols_of_.add(word));
    }
  }

  void statistics(std::string_view hypothesis, std::span<double> out) override {
    tokenize_tercom(hypothesis, options_, hypothesis_text_);
    split_words(hypothesis_text_, words_);
    // Words that no reference has need not be told apart.
    hypothesis_.clear();
    for (const std::string_view word : words_) hypothesis_.push_back(symbols_of_.find(word));
    int64_t fewest = 0, length = 0;
    for (size_t i = 0; i < references_.size(); ++i) {
      const int64_t edits = edits_.count(hypothesis_, references_[i]);
      fewest = i == 0 ? edits : std::min(fewest, edits);
      length += static_cast<int64_t>(references_[i].size());
    }
    out[0] = static_cast<double>(fewest);
    out[1] = static_cast<double>(length) / static_cast<double>(references_.size());
  }

 private:
  /// sacreBLEU prepares references twice, which shows: "it's," is two words after the first time, "it 's ," three after
  /// the second. Without normalisation the second time changes nothing.
  void normalize_again(std::string& text) {
    std::string joined;
    for (const std::string_view word : words_) joined.append(joined.empty() ? "" : " ").append(word);
    tokenize_tercom(joined, options_, text);
    split_words(text, words_);
  }

  TerOptions options_;
  SymbolTable symbols_of_;
  TercomEdits edits_;
  std::vector<std::string> texts_;
  std::string hypothesis_text_;
  std::vector<std::string_view> words_;
  std::vector<std::vector<uint32_t>> references_;
  std::vector<uint32_t> hypothesis_;
};

template <typename Number>
Number ter(Number edits, Number reference_length) {
  if (value_of(reference_length) > 0) return Number(100.0) * (edits / reference_length);
  return value_of(edits) > 0 ? 100.0 : 0.0;  // against nothing
}

std::string yes_or_no(bool value) { return value ? "yes" : "no"; }

}  // namespace

Ter::Ter(TerOptions options) : options_(options) {}

std::unique_ptr<SegmentScorer> Ter::segment_scorer() const { return std::make_unique<TerSegmentScorer>(options_); }

TerScore Ter::ter_of(std::span<const double> sums) const {
  TerScore score;
  score.name = name();
  score.score = ter(sums[0], sums[1]);
  score.edits = sums[0];
  score.reference_length = sums[1];
  return score;
}

ResampleScore Ter::score_of_resample(std::span<const float> sums) const {
  const auto score = ter(NumpyScalar(sums[0]), NumpyScalar(sums[1]));
  return {.value = score.value(), .is_float32 = score.is_float32()};
}

Signature Ter::signature(const SignatureFacts& facts) const {
  return Signature(facts, {{"case", "c", options_.case_sensitive ? "mixed" : "lc"},
                           {"tok", "t", "tercom"},
                           {"norm", "nr", yes_or_no(options_.normalized)},
                           {"punct", "pn", yes_or_no(!options_.no_punctuation)},
                           {"asian", "as", yes_or_no(options_.asian_support)}});
}

TerScore Ter::corpus_score(std::span<const std::string> hypotheses, const References& references,
                           const CorpusOptions& options) const {
  std::vector<double> sums;
  const Score scored = score_corpus(*this, hypotheses, references, options, &sums);
  TerScore score = ter_of(sums);
  static_cast<Score&>(score) = scored;
  return score;
}

TerScore Ter::sentence_score(std::string_view hypothesis, std::span<const std::string> references) const {
  std::vector<double> sums;
  const Score scored = score_sentence(*this, hypothesis, references, &sums);
  TerScore score = ter_of(sums);
  static_cast<Score&>(score) = scored;
  return score;
}

}  // namespace nmt::scoring
