#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "search/step.h"

namespace nmt {

/// The candidates of the sentences of a batch. The models compute the logits of all of them; each sentence is judged by
/// its own alone, as if it were searched by itself: its rows are gathered into [rows, own candidates], which stand for
/// the vocabulary.
class BatchCandidates {
 public:
  /// All sentences have candidates; one row each at first.
  explicit BatchCandidates(std::span<const SearchInput* const> inputs);

  struct Sentence {
    std::vector<int32_t> tokens = {};   ///< ascending: the special symbols stand at their ids
    std::vector<int32_t> columns = {};  ///< where they stand in BatchCandidates::tokens()
  };
  /// The candidates of all sentences, ascending.
  const std::vector<int32_t>& tokens() const { return tokens_; }
  const std::vector<Sentence>& sentences() const { return sentences_; }

  /// New row r continues old row rows[r].
  void select(std::span<const int64_t> rows);

  /// Neighbouring rows of one sentence.
  struct Run {
    int64_t first_row = 0, rows = 0, sentence = 0;
  };
  /// What judge() says of each run, together; its query is that for these rows, its tokens are places in
  /// Sentence::tokens.
  StepScores scores(const StepQuery& query,
                    const std::function<StepScores(const Run& run, const StepQuery& query)>& judge) const;

 private:
  std::vector<Sentence> sentences_;
  std::vector<int32_t> tokens_;
  std::vector<int64_t> sentence_of_row_;
};

/// The logits [rows, columns] of some columns of `logits` [rows, width or more].
std::vector<float> columns_of(std::span<const float> logits, int64_t width, std::span<const int32_t> columns);

}  // namespace nmt
