#pragma once

#include <map>
#include <span>
#include <vector>

#include "search/logits_rules.h"

namespace nmt {

/// A decoding rule: a token's logit falls by alpha for each time that the hypothesis has it already.
class FrequencyPenalty final : public LogitsRule {
 public:
  explicit FrequencyPenalty(double alpha) : alpha_(alpha) {}

  void change(RowLogits& logits) const override {
    std::vector<RowLogits::Place> places;
    std::vector<float> counts;
    for (int64_t row = 0; row < std::ssize(logits.rows()); ++row) {
      std::map<int32_t, float> seen;
      for (const int32_t token : logits.rows()[row].tokens) ++seen[token];
      for (const auto& [token, count] : seen) {
        if (!logits.has(token)) continue;
        places.push_back({row, token});
        counts.push_back(count);
      }
    }
    logits.update(places, [&](std::span<float> values) {
      for (size_t i = 0; i < values.size(); ++i) values[i] -= static_cast<float>(alpha_) * counts[i];
    });
  }

 private:
  double alpha_;
};

}  // namespace nmt
