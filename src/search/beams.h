#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "search/logits_rules.h"
#include "search/search_options.h"
#include "search/step.h"

namespace nmt {

/// The tokens of all hypotheses of a beam. Hypotheses share their beginnings: each is its last node, and extending one
/// costs one node.
class TokenTree {
 public:
  static constexpr int32_t kRoot = -1;  ///< the hypothesis without tokens

  int32_t add(int32_t parent, int32_t token, float log_probability) {
    nodes_.push_back({parent, token, log_probability});
    return static_cast<int32_t>(nodes_.size() - 1);
  }

  /// The tokens of the hypothesis that ends with `node`, from its first token on.
  std::vector<int32_t> tokens(int32_t node) const { return path(node, &Node::token); }
  std::vector<float> log_probabilities(int32_t node) const { return path(node, &Node::log_probability); }

 private:
  struct Node {
    int32_t parent, token;
    float log_probability;
  };

  template <typename T>
  std::vector<T> path(int32_t node, T Node::*part) const {
    std::vector<T> values;
    for (; node != kRoot; node = nodes_[node].parent) values.push_back(nodes_[node].*part);
    std::reverse(values.begin(), values.end());
    return values;
  }

  std::vector<Node> nodes_;
};

/// Phrases that a translation has to hold, each somewhere, in any order; they may share tokens. A hypothesis is told
/// what it has of them by one automaton a phrase (Knuth, Morris and Pratt 1977), so a phrase that breaks off and begins
/// again is followed exactly.
class PhraseConstraints {
 public:
  /// For each phrase how many of its first tokens stand at the end of the hypothesis; all of them, from then on, once
  /// it has appeared.
  using State = std::vector<int32_t>;

  PhraseConstraints() = default;
  explicit PhraseConstraints(std::vector<std::vector<int32_t>> phrases);  ///< none of them empty

  bool empty() const { return phrases_.empty(); }
  State start() const { return State(phrases_.size(), 0); }
  void advance(State& state, int32_t token) const;
  bool all_met(const State& state) const;
  /// Tokens of the phrases that have appeared and of the one that is farthest on its way: the hypothesis's bank.
  int64_t met_tokens(const State& state) const;
  /// The tokens that continue or start a phrase that has not appeared.
  std::vector<int32_t> next_tokens(const State& state) const;

 private:
  struct Phrase {
    std::vector<int32_t> tokens;
    std::vector<int32_t> fallback;  // [i]: length of the longest border of the first i tokens
  };
  bool is_met(const State& state, size_t phrase) const {
    return state[phrase] == static_cast<int32_t>(phrases_[phrase].tokens.size());
  }

  std::vector<Phrase> phrases_;
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
  void advance(const StepScores& scores, int64_t first_row, std::span<const int64_t> penalized, StepInput& next);

  /// From now on it is done and has no rows: nobody wants its results.
  void cancel() { done_ = true; }
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

/// The beams of one sentence: one, the groups of diverse beam search, or one for each sample.
class BeamGroups {
 public:
  /// Borrows all. whole: the options of the search; group: of each beam.
  BeamGroups(const SearchOptions& whole, const SearchOptions& group, const LogitsRules& rules,
             const SearchInput& input);

  int64_t count() const { return std::ssize(beams_); }
  int64_t rows() const;  ///< at first one for each beam
  bool done() const { return rows() == 0; }
  void add_rules(std::vector<RowRules>& rows) const;
  /// With sampling: for each row the number that its token is drawn by.
  void add_uniforms(std::vector<double>& uniforms) const;
  /// One step of every beam, as of SentenceBeam.
  void advance(const StepScores& scores, int64_t first_row, StepInput& next);
  /// Nobody wants its results any more: it is done.
  void cancel() {
    for (auto& beam : beams_) beam.cancel();
  }
  std::vector<Hypothesis> take_results();  ///< the last call

 private:
  const SearchOptions& options_;
  const SearchInput& input_;
  std::vector<SentenceBeam> beams_;
};

/// How many beams such a search has for each sentence, and what each may do.
int64_t group_count(const SearchOptions& options);
SearchOptions group_options(const SearchOptions& options);

}  // namespace nmt
