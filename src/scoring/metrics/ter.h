#pragma once

#include <memory>
#include <string>

#include "scoring/corpus/corpus_score.h"
#include "scoring/corpus/metric.h"
#include "scoring/tokenizers/tercom_tokenizer.h"

namespace nmt::scoring {

struct TerScore : Score {
  double edits = 0;             ///< shifts, insertions, deletions, substitutions
  double reference_length = 0;  ///< words, averaged over the references of a segment
};

/// Translation edit rate (Snover et al. 2006) with the figures of sacreBLEU, which follows Tercom:
/// 100 * fewest edits over the references / mean reference length.
class Ter final : public Metric {
 public:
  explicit Ter(TerOptions options = {});

  TerScore corpus_score(std::span<const std::string> hypotheses, const References& references,
                        const CorpusOptions& options = {}) const;
  TerScore sentence_score(std::string_view hypothesis, std::span<const std::string> references) const;
  TerScore ter_of(std::span<const double> sums) const;  ///< sums: edits, mean reference length

  std::string key() const override { return "TER"; }
  std::string name() const override { return "TER"; }
  int columns() const override { return 2; }
  std::unique_ptr<SegmentScorer> segment_scorer() const override;
  Score score_of(std::span<const double> sums) const override { return ter_of(sums); }
  ResampleScore score_of_resample(std::span<const float> sums) const override;
  Signature signature(const SignatureFacts& facts) const override;

 private:
  TerOptions options_;
};

}  // namespace nmt::scoring
