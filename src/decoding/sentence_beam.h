#pragma once

#include <cstdint>
#include <vector>

#include "decoding/best_tokens.h"
#include "decoding/search.h"

namespace nmt {

/// What the next step of the search is fed with: row r continues row parents[r] of this step with tokens[r].
struct NextRows {
  std::vector<int64_t> parents;
  std::vector<int64_t> tokens;
};

/// The beam of one sentence: its live and its finished hypotheses. The rules stand at search().
class SentenceBeam {
 public:
  /// Borrows the options. limit: tokens a hypothesis may have, </s> counted.
  SentenceBeam(const SearchOptions& options, int64_t limit);

  /// Rows that this sentence has in the batch, one for each live hypothesis, the best first.
  int64_t rows() const { return static_cast<int64_t>(live_.size()); }
  bool done() const { return done_; }

  /// One step. best: at least beam_size + 1 tokens (or the vocabulary) for each row; this sentence's begin at
  /// first_row. Unless it is done then, appends its rows for the next step.
  void advance(const BestTokens& best, int64_t first_row, NextRows& next);

  /// The n_best hypotheses, best first. The last call.
  std::vector<Hypothesis> take_results();

 private:
  struct Live {
    std::vector<int32_t> ids;
    double log_probability = 0;
  };
  struct Extension {
    int64_t parent = 0;  // in live_
    int32_t token = 0;
    double log_probability = 0;
  };
  std::vector<Extension> ranked_extensions(const BestTokens& best, int64_t first_row) const;
  void finish(const Extension& extension);
  bool cannot_improve() const;
  bool will_hardly_improve() const;
  Hypothesis to_hypothesis(std::vector<int32_t> ids, double log_probability, bool finished) const;

  const SearchOptions& options_;
  int64_t limit_;
  int64_t length_ = 0;  // tokens that every live hypothesis has
  std::vector<Live> live_;
  std::vector<Hypothesis> finished_;  // best first; of equal ones the earlier first
  bool done_ = false;
};

}  // namespace nmt
