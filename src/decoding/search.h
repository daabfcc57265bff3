#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "models/model.h"

namespace nmt {

enum class LengthPenalty {
  kPaper,   ///< score / ((5 + n) / 6)^alpha, n with the end symbol (Wu et al. 2016, eq. 14; Vaswani et al. 2017)
  kSimple,  ///< score / n^alpha
};

struct SearchOptions {
  int64_t beam_size = 4;  ///< 1 = greedy
  double length_penalty = 0.6;
  LengthPenalty length_penalty_form = LengthPenalty::kPaper;
  double max_length_ratio = 2.0;  ///< a hypothesis has at most ratio * source length (with </s>) + offset tokens, </s> counted
  int64_t max_length_offset = 20;
  int64_t n_best = 1;     ///< hypotheses returned, at most beam_size
  void validate() const;  ///< throws Error
};

/// A translation in ids.
struct Hypothesis {
  std::vector<int32_t> ids;  ///< without <s> and </s>
  double log_probability = 0;  ///< summed over its tokens, </s> included; natural logarithm
  double score = 0;            ///< log_probability divided by the length penalty: what is compared
  bool finished = true;        ///< ended with </s> (otherwise cut at the length limit)
};

/// Translates a batch of sentences given as ids without </s>. Result: for each sentence its n_best hypotheses, best first.
/// The caller holds an InferenceMode guard and has put the model into evaluation mode.
std::vector<std::vector<Hypothesis>> search(TranslationModel& model, const std::vector<std::vector<int32_t>>& sources,
                                            const SearchOptions& options);

}  // namespace nmt
