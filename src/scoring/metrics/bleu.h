#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/choice.h"
#include "scoring/corpus/metric.h"
#include "scoring/tokenizers/tokenizers.h"

namespace nmt::scoring {

/// Smoothing of precisions without a match (Chen and Cherry 2014): none; floor: method 1; add-k: method 2;
/// exp: method 3, that of mteval-v13a.
enum class BleuSmoothing { kNone, kFloor, kAddK, kExponential };

/// Larger smoothing values leave float32 in sums.
constexpr double kMaxSmoothing = 1e30;

struct BleuOptions {
  std::string tokenizer = "13a";         ///< a name of tokenizer_names()
  std::string sentencepiece_model = {};  ///< file for the SentencePiece tokenisers; empty: where sacreBLEU keeps them
  bool lowercase = false;
  BleuSmoothing smoothing = BleuSmoothing::kExponential;
  std::optional<double> smoothing_value = {};  ///< floor: 0.1, add-k: 1 by default; within kMaxSmoothing
  int max_order = 4;
  bool effective_order = false;  ///< leave out orders longer than the text: for sentences
};

/// BLEU (Papineni et al. 2002) with the figures of sacreBLEU:
/// BP exp(1/N sum_n log p_n), p_n = clipped matches / n-grams of the hypotheses, in percent.
class Bleu final : public Metric {
 public:
  /// Throws nmt::Error for an unknown tokeniser or one that is not there.
  explicit Bleu(BleuOptions options = {});

  std::string key() const override { return "BLEU"; }
  std::string name() const override { return "BLEU"; }
  int columns() const override { return 2 + 2 * options_.max_order; }
  std::unique_ptr<SegmentScorer> segment_scorer() const override;
  /// Sums: hypothesis length, reference length, matches 1..N, n-grams 1..N.
  Score score_of(std::span<const double> sums) const override;
  ResampleScore score_of_resample(std::span<const float> sums) const override;
  double score_of_trial(std::span<const double> sums) const override;
  Signature signature(const SignatureFacts& facts) const override;
  /// With effective order, as sacreBLEU's sentence_bleu.
  std::unique_ptr<Metric> for_sentences() const override;

 private:
  BleuOptions options_;
  std::shared_ptr<const BleuTokenizer> tokenizer_;
};

}  // namespace nmt::scoring

namespace nmt {
template <>
inline constexpr auto kNames<scoring::BleuSmoothing> = names("none", "floor", "add-k", "exp");
}  // namespace nmt
