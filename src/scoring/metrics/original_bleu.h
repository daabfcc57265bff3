#pragma once

#include <array>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "base/choice.h"
#include "scoring/corpus/metric.h"

namespace nmt::scoring {

/// BLEU as the programs computed it with which older systems were scored. All take the text as it is: cased, not
/// tokenised, words between white space; orders 1 to 4 without smoothing; of several references the closest length, and
/// the shorter one of two as close.
enum class OriginalForm {
  kMultiBleu,        ///< multi-bleu.perl of Moses
  kMultiBleuLegacy,  ///< an older copy of it (Kyubyong 2019): references are split at single spaces, so that two spaces
                     ///< have an empty word between them; the first of two as close; the line says `ration`
  kNltk,             ///< nltk.translate.bleu_score.corpus_bleu of NLTK 3.10.4: as multi-bleu, but a hypothesis shorter
                     ///< than n words still counts one n-gram, and an order without a match gives a tiny score, not 0
};

}  // namespace nmt::scoring

namespace nmt {
template <>
inline constexpr auto kNames<scoring::OriginalForm> = names("multi-bleu", "multi-bleu-legacy", "nltk");
}  // namespace nmt

namespace nmt::scoring {

class OriginalBleu final : public Metric {
 public:
  explicit OriginalBleu(OriginalForm form) : form_(form) {}

  std::string key() const override { return name(); }
  std::string name() const override { return name_of(form_); }
  int columns() const override { return 10; }
  bool reads_line_ends() const override { return true; }
  std::unique_ptr<SegmentScorer> segment_scorer() const override;
  /// Sums: hypothesis length, reference length, matches 1..4, n-grams 1..4. Score::original is the line that the
  /// program prints, "BLEU = 28.06, 58.5/35.5/23.0/15.2 (BP=0.961, ration=0.962)" or "Bleu Score = 17.146408907717394".
  Score score_of(std::span<const double> sums) const override;
  ResampleScore score_of_resample(std::span<const float> sums) const override;
  Signature signature(const SignatureFacts& facts) const override;

 private:
  OriginalForm form_;
};

/// What the legacy program makes of the last line of a file if no line end follows it: it removes a line's last
/// character, whatever that is. (It removes a byte; we remove the whole character, so that the text stays UTF-8.)
std::string_view without_last_character(std::string_view line);

}  // namespace nmt::scoring
