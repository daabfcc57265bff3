#pragma once

#include <torch/types.h>

#include <cstdint>
#include <span>
#include <vector>

#include "config/config.h"
#include "search/ensemble.h"
#include "search/logits_rules.h"
#include "search/search_options.h"
#include "search/step_scores.h"

namespace nmt {

/// The candidates of the sentences of a batch. The models compute the logits of all of them; each sentence is judged by
/// its own alone, as if it were searched by itself: its rows are gathered into [rows, own candidates], ascending ids,
/// and step_scores() takes these for the vocabulary.
class BatchCandidates {
 public:
  /// Takes for each input its candidates, the special symbols, its prefix and the phrases that it must hold.
  BatchCandidates(std::span<const SearchInput* const> inputs, torch::Device device);

  /// The candidates of all sentences, ascending: the columns of the logits that scores() takes.
  const std::vector<int32_t>& tokens() const { return tokens_; }

  /// The rows of a step that belong to one sentence; they follow those of the one before.
  struct Rows {
    int64_t sentence = 0, count = 0;
  };
  /// step_scores() of the rows. logits: of each member of `state`, float32 [rows, tokens or more]; rows and uniforms:
  /// of all rows, or none.
  StepScores scores(const SearchState& state, const std::vector<torch::Tensor>& logits, std::span<const Rows> sentences,
                    const LogitsRules& rules, std::span<const RowRules> rows, int64_t count,
                    const DecodingConfig& options, std::span<const double> uniforms) const;

 private:
  struct Sentence {
    std::vector<int32_t> tokens;   // ascending: the special symbols stand at their ids
    std::vector<int32_t> columns;  // where they stand in tokens_
    torch::Tensor device_columns;  // the same on a GPU, undefined on the CPU
  };
  static torch::Tensor own_logits(const torch::Tensor& rows, const Sentence& sentence);

  std::vector<Sentence> sentences_;
  std::vector<int32_t> tokens_;
};

}  // namespace nmt
