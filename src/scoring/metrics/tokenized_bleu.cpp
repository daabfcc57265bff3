#include "scoring/metrics/tokenized_bleu.h"

#include <utility>
#include <vector>

#include "text/moses/moses_tokenizer.h"

namespace nmt::scoring {
namespace {

/// Tokenises lines for the scorer of BLEU, which lower-cases them after that.
class TokenizingScorer final : public SegmentScorer {
 public:
  TokenizingScorer(MosesLanguage language, std::unique_ptr<SegmentScorer> scorer)
      : tokenizer_(language), scorer_(std::move(scorer)) {}

  void set_references(std::span<const std::string_view> references) override {
    tokenized_.clear();
    for (const auto line : references) tokenized_.push_back(tokenizer_.tokenize(line));
    const std::vector<std::string_view> views(tokenized_.begin(), tokenized_.end());
    scorer_->set_references(views);
  }
  void statistics(std::string_view hypothesis, std::span<double> out) override {
    scorer_->statistics(tokenizer_.tokenize(hypothesis), out);
  }

 private:
  MosesTokenizer tokenizer_;
  std::unique_ptr<SegmentScorer> scorer_;
  std::vector<std::string> tokenized_;  // of the references
};

}  // namespace

TokenizedBleu::TokenizedBleu(MosesLanguage language, bool lowercase)
    : language_(language), lowercase_(lowercase), bleu_({.tokenizer = "none", .lowercase = lowercase}) {}

std::unique_ptr<SegmentScorer> TokenizedBleu::segment_scorer() const {
  return std::make_unique<TokenizingScorer>(language_, bleu_.segment_scorer());
}

Score TokenizedBleu::score_of(std::span<const double> sums) const {
  Score score = bleu_.score_of(sums);
  score.name = name();
  return score;
}

Signature TokenizedBleu::signature(const SignatureFacts& facts) const {
  return Signature(facts, {{"case", "c", lowercase_ ? "lc" : "mixed"},
                           {"eff", "e", "no"},
                           {"tok", "tok", language_ == MosesLanguage::kGerman ? "moses-de" : "moses-en"},
                           {"smooth", "s", "exp"}});
}

}  // namespace nmt::scoring
