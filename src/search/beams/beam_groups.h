#pragma once

#include <cstdint>
#include <vector>

#include "search/beams/sentence_beam.h"

namespace nmt {

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
  void advance(const StepScores& scores, int64_t first_row, NextRows& next);
  /// Nobody wants its results any more: it is done.
  void give_up() {
    for (auto& beam : beams_) beam.give_up();
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
