#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "search/search_options.h"

namespace nmt {

class LogitsRules;

/// What a step is fed, [rows]: row r continues row ancestors[r] of the step before with tokens[r] (first <s>). In
/// blocks each row has several tokens, one row after the other. A row may be continued several times, or not at all.
struct StepInput {
  std::vector<int64_t> ancestors;
  std::vector<int64_t> tokens;
};

/// True if the rows of the next step are those of this one, in their order: then nothing moves.
inline bool stays(const std::vector<int64_t>& ancestors, int64_t rows) {
  for (int64_t row = 0; row < std::ssize(ancestors); ++row)
    if (ancestors[row] != row) return false;
  return std::ssize(ancestors) == rows;
}

/// A hypothesis of a search, one row of its steps, and what the rules say about its next token.
struct RowRules {
  const SearchInput* input = nullptr;  ///< what it translates
  std::vector<int32_t> tokens = {};    ///< what it has so far, without <s>
  std::vector<int32_t> banned = {};    ///< may not be chosen; may hold a token twice
  std::vector<int32_t> wanted = {};    ///< candidates, however improbable
  bool only_wanted = false;            ///< nothing else may be chosen, and no ban holds
};

/// What is asked of the rows of a step.
struct StepQuery {
  int64_t token = 0;                      ///< after which one of those that each row was fed
  std::span<const RowRules> rules = {};   ///< one a row, or none at all
  std::span<const double> uniforms = {};  ///< with sampling: numbers in [0, 1), by each of which a token is drawn
  /// The row of each of these numbers; none: one number a row. Without rules and candidates only.
  std::span<const int64_t> rows = {};
  int64_t count = 1;  ///< tokens for each row, at least, where so many are allowed
};

/// The most probable next tokens of each row, best first; tokens of equal probability by id.
struct BestTokens {
  int64_t width = 0;                     ///< tokens a row
  std::vector<int32_t> ids;              ///< [rows, width]; kNone where a row has fewer
  std::vector<float> log_probabilities;  ///< [rows, width], natural logarithm over the whole vocabulary
  static constexpr int32_t kNone = -1;
};

struct TokenScore {
  int32_t token = 0;
  float log_probability = 0;
};

/// The next tokens of all rows.
struct StepScores {
  BestTokens best;                              ///< without those that are banned; none where only_wanted
  std::vector<std::vector<TokenScore>> wanted;  ///< by row, those of RowRules::wanted; empty without rules. Tokens of
                                                ///< probability 0 only where nothing else may be chosen
};

/// The hypotheses of a search in a model or an ensemble, a row each: all that a search does with a model, on plain
/// buffers. What is found for a row depends on that row alone.
class DecodingStep {
 public:
  virtual ~DecodingStep() = default;
  virtual int64_t rows() const = 0;
  virtual void feed(const StepInput& input) = 0;
  /// What may come next. Log-probabilities are normalised over the whole vocabulary, or over the sentence's candidates.
  /// Once for each token that was fed, in their order. Throws Error for weights that are damaged.
  virtual StepScores scores(const StepQuery& query) = 0;
  /// Where DecodingModel::joins(): adds the rows of another step of the same model behind its own ones.
  virtual void join(std::unique_ptr<DecodingStep> other) = 0;
};

/// A model or an ensemble that a search can use.
class DecodingModel {
 public:
  virtual ~DecodingModel() = default;
  /// Encodes sentences, of which all have candidates or none. One row a sentence. Borrows all for as long as the step
  /// is there.
  virtual std::unique_ptr<DecodingStep> start(std::span<const SearchInput* const> sentences,
                                              const SearchOptions& options, const LogitsRules& rules) = 0;
  /// Whether sentences may start while others are under way.
  virtual bool joins() const = 0;
  /// Whether blocks of several tokens leave the bits of single steps.
  virtual bool exact_blocks() const = 0;
  virtual int64_t target_vocabulary() const = 0;
  /// Fills Hypothesis::attention of the results of sentences, and ranks them by a coverage penalty.
  virtual void add_attention(std::span<const SearchInput* const> sentences, const SearchOptions& options,
                             std::vector<std::vector<Hypothesis>>& results) = 0;
};

}  // namespace nmt
