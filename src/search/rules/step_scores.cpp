#include "search/rules/step_scores.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "nn/device/device.h"
#include "search/rules/sampling.h"

namespace nmt {
namespace {

/// Places [row * vocabulary + token] of a list of tokens a row, int64 on the device of the logits.
torch::Tensor places(std::span<const RowRules> rules, std::vector<int32_t> RowRules::*list,
                     const torch::Tensor& logits) {
  std::vector<int64_t> flat;
  for (size_t row = 0; row < rules.size(); ++row)
    for (const int32_t token : rules[row].*list) flat.push_back(static_cast<int64_t>(row) * logits.size(1) + token);
  return copy_to_device(torch::tensor(flat, torch::kLong), logits.device());
}

/// Log-probabilities differ as logits do: each is that of the row's best token and the difference.
std::vector<std::vector<TokenScore>> wanted_scores(const torch::Tensor& logits, std::span<const RowRules> rules,
                                                   const BestTokens& best) {
  std::vector<std::vector<TokenScore>> scores(rules.size());
  if (std::ranges::all_of(rules, [](const RowRules& row) { return row.wanted.empty(); })) return scores;
  std::vector<RowRules> firsts(rules.size());
  for (size_t row = 0; row < rules.size(); ++row)
    firsts[row].wanted.assign(rules[row].wanted.size(), best.ids[row * best.width]);
  const auto flat = logits.reshape(-1);
  const auto difference = (flat.index_select(0, places(rules, &RowRules::wanted, logits)) -
                           flat.index_select(0, places(firsts, &RowRules::wanted, logits)))
                              .cpu();
  const float* next = difference.const_data_ptr<float>();
  for (size_t row = 0; row < rules.size(); ++row)
    for (const int32_t token : rules[row].wanted) {
      const float log_probability = *next++ + best.log_probabilities[row * best.width];
      if (rules[row].only_wanted || std::isfinite(log_probability)) scores[row].push_back({token, log_probability});
    }
  return scores;
}

void remove_banned(std::span<const RowRules> rules, BestTokens& best) {
  for (size_t row = 0; row < rules.size(); ++row) {
    if (rules[row].banned.empty() && !rules[row].only_wanted) continue;
    int32_t* ids = best.ids.data() + row * best.width;
    float* values = best.log_probabilities.data() + row * best.width;
    int64_t kept = 0;
    for (int64_t i = 0; i < best.width && !rules[row].only_wanted; ++i) {
      if (std::ranges::find(rules[row].banned, ids[i]) != rules[row].banned.end()) continue;
      ids[kept] = ids[i];
      values[kept++] = values[i];
    }
    std::fill(ids + kept, ids + best.width, BestTokens::kNone);
    std::fill(values + kept, values + best.width, -std::numeric_limits<float>::infinity());
  }
}

}  // namespace

StepScores step_scores(const torch::Tensor& logits, std::span<const RowRules> rules, int64_t count,
                       const DecodingConfig& options, std::span<const double> uniforms) {
  size_t max_banned = 0;
  for (const auto& row : rules) max_banned = std::max(max_banned, row.banned.size());
  StepScores scores;
  scores.best = options.sampling ? draw_tokens(logits, options, rules, uniforms)
                                 : best_tokens(logits, count + static_cast<int64_t>(max_banned));
  if (rules.empty()) return scores;
  scores.wanted = wanted_scores(logits, rules, scores.best);
  remove_banned(rules, scores.best);
  return scores;
}

}  // namespace nmt
