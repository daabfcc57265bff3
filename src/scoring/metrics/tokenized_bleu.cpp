#include "scoring/metrics/tokenized_bleu.h"

#include <array>
#include <utility>
#include <vector>

#include "base/error.h"
#include "text/moses/moses_tokenizer.h"

namespace nmt::scoring {
namespace {

bool is_lowercase(TokenizedBleuForm form) {
  return form == TokenizedBleuForm::kLowercase || form == TokenizedBleuForm::kAsIsLowercase;
}

/// Tokenises lines for the scorer of BLEU, which lower-cases them after that.
class TokenizingScorer final : public SegmentScorer {
 public:
  TokenizingScorer(MosesLanguage language, bool splits_compounds, std::unique_ptr<SegmentScorer> scorer)
      : tokenizer_(language), splits_compounds_(splits_compounds), scorer_(std::move(scorer)) {}

  void set_references(std::span<const std::string_view> references) override {
    tokenized_.clear();
    for (const auto line : references) tokenized_.push_back(tokens_of(line));
    const std::vector<std::string_view> views(tokenized_.begin(), tokenized_.end());
    scorer_->set_references(views);
  }
  void statistics(std::string_view hypothesis, std::span<double> out) override {
    scorer_->statistics(tokens_of(hypothesis), out);
  }

 private:
  std::string tokens_of(std::string_view line) const {
    auto tokens = tokenizer_.tokenize(line);
    return splits_compounds_ ? split_compounds(tokens) : tokens;
  }

  MosesTokenizer tokenizer_;
  bool splits_compounds_;
  std::unique_ptr<SegmentScorer> scorer_;
  std::vector<std::string> tokenized_;  // of the references
};

}  // namespace

TokenizedBleu::TokenizedBleu(TokenizedBleuForm form, std::optional<MosesLanguage> language)
    : form_(form), language_(language), bleu_({.tokenizer = "none", .lowercase = is_lowercase(form)}) {
  if (takes_moses_tokens(form) && !language) throw Error("tokenised BLEU: Moses needs the language; name it");
}

std::string TokenizedBleu::name() const {
  constexpr std::array kTexts = {"tokenised BLEU", "lower-case tokenised BLEU", "compound-split tokenised BLEU",
                                 "BLEU of tokens as they are", "lower-case BLEU of tokens as they are"};
  return kTexts[static_cast<size_t>(form_)];  // in the order of TokenizedBleuForm
}

std::unique_ptr<SegmentScorer> TokenizedBleu::segment_scorer() const {
  if (!takes_moses_tokens(form_)) return bleu_.segment_scorer();
  return std::make_unique<TokenizingScorer>(*language_, form_ == TokenizedBleuForm::kCompoundSplit,
                                            bleu_.segment_scorer());
}

Score TokenizedBleu::score_of(std::span<const double> sums) const {
  Score score = bleu_.score_of(sums);
  score.name = name();
  return score;
}

Signature TokenizedBleu::signature(const SignatureFacts& facts) const {
  std::string tokenizer = takes_moses_tokens(form_) ? "moses-" + std::string(moses_code(*language_)) : "none";
  if (form_ == TokenizedBleuForm::kCompoundSplit) tokenizer += "-atat";
  return Signature(facts, {{"case", "c", is_lowercase(form_) ? "lc" : "mixed"},
                           {"eff", "e", "no"},
                           {"tok", "tok", tokenizer},
                           {"smooth", "s", "exp"}});
}

std::string split_compounds(std::string_view tokens) {
  const auto is_text = [](unsigned char c) { return c != ' ' && (c < '\t' || c > '\r'); };
  std::string text;
  for (size_t i = 0; i < tokens.size(); ++i) {
    text += tokens[i];
    const bool matches = i + 2 < tokens.size() && is_text(tokens[i]) && tokens[i + 1] == '-' && is_text(tokens[i + 2]);
    if (!matches) continue;
    text += " ##AT##-##AT## ";
    text += tokens[i += 2];
  }
  return text;
}

}  // namespace nmt::scoring
