#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "base/threads.h"
#include "search/step.h"

namespace nmt {

/// The candidates of the sentences of a batch. A model computes the logits of those of a group of sentences together;
/// each sentence is judged by its own alone, as if it were searched by itself: they stand for the vocabulary.
class BatchCandidates {
 public:
  /// All sentences have candidates; one row each at first. group: neighbouring sentences that make up a group.
  BatchCandidates(std::span<const SearchInput* const> inputs, int64_t group);

  struct Sentence {
    std::vector<int32_t> tokens = {};   ///< ascending: the special symbols stand at their ids
    std::vector<int32_t> columns = {};  ///< where they stand among the tokens of its group
  };
  const std::vector<Sentence>& sentences() const { return sentences_; }
  /// The candidates of each group, ascending.
  const std::vector<std::vector<int32_t>>& groups() const { return groups_; }
  int64_t group_of(int64_t sentence) const { return sentence / group_size_; }

  /// New row r continues old row rows[r].
  void select(std::span<const int64_t> rows);

  /// Neighbouring rows of one sentence.
  struct Run {
    int64_t first_row = 0, rows = 0, sentence = 0;
  };
  std::vector<Run> runs() const;
  /// What judge() says of each run, together; its query is that for these rows, its tokens are places in
  /// Sentence::tokens. threads: that call it, too; none: the caller's alone.
  StepScores scores(const StepQuery& query, ThreadPool* threads,
                    const std::function<StepScores(const Run& run, const StepQuery& query)>& judge) const;

 private:
  int64_t group_size_;
  std::vector<Sentence> sentences_;
  std::vector<std::vector<int32_t>> groups_;
  std::vector<int64_t> sentence_of_row_;
};

/// The logits [rows, columns] of some columns of `logits` [rows, width or more].
std::vector<float> columns_of(std::span<const float> logits, int64_t width, std::span<const int32_t> columns);

}  // namespace nmt
