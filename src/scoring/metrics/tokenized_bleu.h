#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "config/kinds.h"
#include "scoring/metrics/bleu.h"
#include "text/moses/moses_language.h"

namespace nmt::scoring {

/// BLEU of the tokens that the Moses tokenizer cuts (tokenizer.perl with its XML entities; then, where asked for, lower
/// case, or compounds split at dashes as split_compounds() does): what many papers print for German, English and
/// French. The figure is that of `sacrebleu -tok none` (with `-lc`) for such files, and of multi-bleu.perl wherever
/// n-grams of each order match. It is not comparable with BLEU of plain text (13a) and has a name of its own.
/// kAsIs: the text is tokenised already, and its tokens are what stands between white space.
class TokenizedBleu final : public Metric {
 public:
  /// `language` says how Moses cuts; kAsIs and kAsIsLowercase need none. Throws Error where it is missing.
  explicit TokenizedBleu(TokenizedBleuForm form, std::optional<MosesLanguage> language = {});

  std::string key() const override { return name(); }
  std::string name() const override;
  int columns() const override { return bleu_.columns(); }
  std::unique_ptr<SegmentScorer> segment_scorer() const override;
  Score score_of(std::span<const double> sums) const override;
  ResampleScore score_of_resample(std::span<const float> sums) const override { return bleu_.score_of_resample(sums); }
  double score_of_trial(std::span<const double> sums) const override { return bleu_.score_of_trial(sums); }
  /// That of BLEU, with "tok:moses-en" (or -de, -fr), "-atat" behind it for compounds, and "tok:none" as it is.
  Signature signature(const SignatureFacts& facts) const override;

 private:
  TokenizedBleuForm form_;
  std::optional<MosesLanguage> language_;
  Bleu bleu_;
};

/// "rich-text format" -> "rich ##AT##-##AT## text format": s{(\S)-(\S)}{$1 ##AT##-##AT## $2}g of Perl, byte by byte, as
/// get_ende_bleu.sh (Tensor2Tensor) and compound_split_bleu.sh (fairseq) apply it to tokenised text. Of "a-b-c" only
/// the first dash is replaced: the b was part of the match.
std::string split_compounds(std::string_view tokens);

}  // namespace nmt::scoring
