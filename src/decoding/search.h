#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "models/model.h"
#include "text/source_markers.h"

namespace nmt {

enum class LengthPenalty {
  kPaper,   ///< score / ((5 + n) / 6)^alpha, n with the end symbol (Wu et al. 2016, eq. 14; Vaswani et al. 2017)
  kSimple,  ///< score / n^alpha
};

/// "paper" or "simple", as in the configuration. Throws Error for anything else.
LengthPenalty parse_length_penalty(const std::string& name);
const char* length_penalty_name(LengthPenalty form);

struct SearchOptions {
  int64_t beam_size = 4;  ///< 1 = greedy
  double length_penalty = 0.6;
  LengthPenalty length_penalty_form = LengthPenalty::kPaper;
  double max_length_ratio = 2.0;  ///< a hypothesis has at most ratio * source length (with </s>) + offset tokens, </s>
                                  ///< counted
  int64_t max_length_offset = 20;
  int64_t max_length = 0;  ///< and never more than this, 0 = no such limit (learned positions have one)
  int64_t n_best = 1;      ///< hypotheses returned, at most beam_size
  SourceMarkers source_markers = SourceMarkers::kEnd;  ///< of the model; the Translator sets it
  void validate() const;                               ///< throws Error

  /// What a log-probability of `tokens` tokens, </s> counted, is divided by.
  double penalty(int64_t tokens) const;
  /// Tokens that a hypothesis for so many source pieces (without </s>) may have, </s> counted; at least 1.
  int64_t length_limit(int64_t source_pieces) const;
};

/// A translation in ids.
struct Hypothesis {
  std::vector<int32_t> ids;    ///< without <s> and </s>
  double log_probability = 0;  ///< summed over its tokens, </s> included; natural logarithm
  double score = 0;            ///< log_probability divided by the length penalty: what is compared
  bool finished = true;        ///< ended with </s> (otherwise cut at the length limit)
};

/// Where the model's parameters are (the CPU if it has none).
torch::Device device_of(const TranslationModel& model);

/// Translates a batch of sentences given as ids without </s>. Result: for each sentence its n_best hypotheses, best
/// first (fewer where the search found fewer). The caller holds an InferenceMode guard and has put the model into
/// evaluation mode.
///
/// Beam search: in each step every live hypothesis is extended by every token but <pad> and <s>, and the extensions are
/// ranked by log-probability (ties: the extension of the better hypothesis, then the lower id). Those among the best
/// beam_size that end with </s> are finished; the best beam_size that do not end live on. A sentence is done, and its
/// rows leave the batch, when
///   - no live hypothesis can displace the n_best-th best finished one any more: log-probabilities only fall, so what a
///     live hypothesis becomes scores at most its log-probability / penalty(length limit). This changes no result; or
///   - beam_size hypotheses are finished and the best of them scores no less than the best live one does at its present
///     length. Without a length penalty this changes no result either; with one it may miss a longer hypothesis whose
///     last words are more probable than its first, and saves most of the way to the length limit. The best hypothesis
///     is the same for every n_best; or
///   - the length limit is reached. Hypotheses that are live then count only where fewer than n_best are finished.
/// With beam_size 1 this is greedy search: it is done as soon as its hypothesis ends.
/// What is found for a sentence depends on its own rows of logits alone.
std::vector<std::vector<Hypothesis>> search(TranslationModel& model, const std::vector<std::vector<int32_t>>& sources,
                                            const SearchOptions& options);

}  // namespace nmt
