#pragma once

#include <ATen/ops/where.h>

#include <memory>
#include <vector>

#include "search/rules/distinct_tokens.h"
#include "search/rules/logits_rule.h"
#include "search/rules/search_options.h"

namespace nmt {

/// Keskar et al. 2019, sec. 4.1: of the tokens that a hypothesis has, positive logits are divided by
/// SearchOptions::repetition_penalty, negative ones multiplied.
class RepetitionPenalty final : public LogitsRule {
 public:
  static std::shared_ptr<const LogitsRule> make(const SearchOptions& options) {
    return options.repetition_penalty != 1 ? std::make_shared<RepetitionPenalty>(options.repetition_penalty) : nullptr;
  }
  explicit RepetitionPenalty(double penalty) : penalty_(penalty) {}
  /// Log-probabilities have no positive values, and dividing is what counts.
  bool changes_each_model() const override { return true; }
  void change(RowLogits& logits) const override {
    std::vector<RowLogits::Place> seen;
    for (int64_t row = 0; row < std::ssize(logits.rows()); ++row) {
      auto tokens = logits.rows()[row].tokens;
      make_distinct(tokens);
      for (const int32_t token : tokens)
        if (logits.has(token)) seen.push_back({row, token});
    }
    logits.update(
        seen, [&](const torch::Tensor& values) { return at::where(values > 0, values / penalty_, values * penalty_); });
  }

 private:
  double penalty_;
};

}  // namespace nmt
