#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "search/beams/hypothesis.h"
#include "search/beams/token_tree.h"
#include "search/rules/logits_rules.h"
#include "search/rules/phrase_constraints.h"
#include "search/rules/search_input.h"
#include "search/rules/search_options.h"
#include "search/rules/step_scores.h"

namespace nmt {

/// What the next step of the search is fed with: row r continues row parents[r] of this step with tokens[r].
struct NextRows {
  std::vector<int64_t> parents;
  std::vector<int64_t> tokens;
};

/// One beam: its live and its finished hypotheses. The rules stand at search().
class SentenceBeam {
 public:
  /// Borrows options, rules and input. options: of this beam; it gives beam_size hypotheses at most. limit: tokens a
  /// hypothesis may have, </s> counted.
  SentenceBeam(const SearchOptions& options, const LogitsRules& rules, const SearchInput& input, int64_t limit);

  /// Rows that this beam has in the batch, one for each live hypothesis, the best first; none once it is done.
  int64_t rows() const { return done_ ? 0 : static_cast<int64_t>(live_.size()); }
  bool done() const { return done_; }
  int64_t length() const { return length_; }  ///< tokens that every live hypothesis has

  /// Appends what the rules say about the next token of each row.
  void add_rules(std::vector<RowRules>& rows) const;

  /// One step. scores: at least beam_size + 1 tokens (or what is allowed) for each row, and as many more as there are
  /// in `penalized`; the rows of this beam begin at first_row. penalized: tokens that rank diversity_strength
  /// lower, once for each time they stand there. Unless it is done then, appends its rows for the next step.
  void advance(const StepScores& scores, int64_t first_row, std::span<const int64_t> penalized, NextRows& next);

  /// From now on it is done and has no rows: nobody wants its results.
  void give_up() { done_ = true; }
  /// The n_best hypotheses, best first. The last call.
  std::vector<Hypothesis> take_results();

 private:
  struct Live {
    int32_t node = TokenTree::kRoot;
    double log_probability = 0;
    PhraseConstraints::State met = {};
  };
  struct Extension {
    int64_t parent = 0;  // in live_
    int32_t token = 0;
    float token_log_probability = 0;
    double log_probability = 0, rank = 0;  // what it has, and what it is compared by
  };
  std::vector<Extension> ranked_extensions(const StepScores& scores, int64_t first_row,
                                           std::span<const int64_t> penalized) const;
  void allocate_banks(std::vector<Extension>& extensions) const;
  Live extended(const Extension& extension);
  void finish(const Live& ended);
  bool is_over() const;
  void keep_best_of_each(std::vector<Extension>& extensions) const;
  bool is_distinct() const;  // each live hypothesis goes its own way
  int64_t n_best() const;
  bool can_be_pruned(const Live& live) const;  // it cannot be among the n best any more
  bool may_prune() const;
  bool length_counts() const;
  bool has_fallen_behind() const;
  Hypothesis to_hypothesis(const Live& hypothesis, bool finished) const;

  const SearchOptions& options_;
  const LogitsRules& rules_;
  const SearchInput& input_;
  PhraseConstraints constraints_;
  int64_t limit_;
  int64_t length_ = 0;
  TokenTree tree_;
  std::vector<Live> live_;            // the most probable first
  std::vector<Hypothesis> finished_;  // best first; of equal ones the earlier first
  bool done_ = false;
};

}  // namespace nmt
