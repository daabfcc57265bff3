#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "base/threads.h"
#include "config/config.h"
#include "search/logits_rules.h"
#include "search/step.h"

namespace nmt {

/// body(begin, end) for pieces of at least `grain` that make up [0, count). Rethrows what one of them throws.
void share(ThreadPool* threads, int64_t count, int64_t grain, const std::function<void(int64_t, int64_t)>& body);

/// Logits in memory, [rows, columns], one row after the other. Borrows them. threads: that help to look through them;
/// none: the caller does all.
class PlainLogits final : public Logits {
 public:
  PlainLogits(std::span<float> values, int64_t columns, ThreadPool* threads = nullptr)
      : values_(values), columns_(columns), threads_(threads) {}
  int64_t columns() const override { return columns_; }
  ThreadPool* threads() const { return threads_; }
  int64_t rows() const { return std::ssize(values_) / columns_; }
  std::span<const float> row(int64_t row) const { return values_.subspan(row * columns_, columns_); }
  std::vector<float> at(std::span<const int64_t> places) const override;
  void set(std::span<const int64_t> places, std::span<const float> values) override;

 private:
  std::span<float> values_;
  int64_t columns_;
  ThreadPool* threads_;
};

/// The `count` most probable tokens of each row (BestTokens). <pad>, <s> and tokens of probability 0 are never among
/// them. Each row is a function of that row alone, in one pass over it. Throws Error if a row is not a distribution
/// (NaN or infinite: damaged weights).
BestTokens best_tokens(const PlainLogits& logits, int64_t count);

/// Throws that Error.
[[noreturn]] void fail_on_logits();

/// Draws one token for each of query.uniforms, from query.rows. A token is a function of its number and its row's
/// logits. <pad>, <s> and banned tokens are never drawn; kNone where nothing is left. The log-probability is the
/// model's own, over the whole vocabulary and without temperature.
BestTokens draw_tokens(const PlainLogits& logits, const StepQuery& query, const DecodingConfig& options);

/// What a step says of its logits. With sampling the lists hold the one token that is drawn.
StepScores step_scores(const PlainLogits& logits, const StepQuery& query, const DecodingConfig& options = {});

/// How many of the best tokens there must be so that enough are left of them.
int64_t needed_best(const StepQuery& query);
/// What the rules leave of the best or drawn tokens of these logits: what is banned keeps its share of the probability.
StepScores judged(const Logits& logits, BestTokens best, std::span<const RowRules> rules);

/// The tokens that a sentence may be written with, ascending: its candidates, the special symbols, its prefix and the
/// phrases that it must hold.
std::vector<int32_t> all_candidates(const SearchInput& input);
/// The rules of rows whose columns are candidates, with places among them for tokens.
std::vector<RowRules> in_places(std::span<const RowRules> rows, std::span<const int32_t> candidates);
/// Appends the scores of further rows, whose tokens are places among `candidates` and which are no wider.
void append(StepScores& all, StepScores rows, std::span<const int32_t> candidates);

}  // namespace nmt
