#include "search/rules/step_scores.h"

#include <algorithm>
#include <limits>

#include "search/rules/sampling.h"

namespace nmt {
namespace {

/// Places [row * vocabulary + token] of a list of tokens a row, int64 on the device of the logits.
torch::Tensor places(std::span<const RowRules> rules, std::vector<int32_t> RowRules::*list,
                     const torch::Tensor& logits) {
  std::vector<int64_t> flat;
  for (size_t row = 0; row < rules.size(); ++row)
    for (const int32_t token : rules[row].*list) flat.push_back(static_cast<int64_t>(row) * logits.size(1) + token);
  return torch::tensor(flat, torch::kLong).to(logits.device());
}

void penalise_repetition(torch::Tensor& logits, std::span<const RowRules> rules, double penalty) {
  const auto seen = places(rules, &RowRules::seen, logits);
  if (seen.numel() == 0) return;
  logits = logits.contiguous();
  auto flat = logits.view(-1);
  const auto values = flat.index_select(0, seen);
  flat.index_copy_(0, seen, at::where(values > 0, values / penalty, values * penalty));
}

/// Log-probabilities differ as logits do: each is that of the row's best token and the difference.
std::vector<std::vector<TokenScore>> wanted_scores(const torch::Tensor& logits, std::span<const RowRules> rules,
                                                   const BestTokens& best) {
  std::vector<RowRules> firsts(rules.size());
  for (size_t row = 0; row < rules.size(); ++row)
    firsts[row].wanted.assign(rules[row].wanted.size(), best.ids[row * best.width]);
  const auto flat = logits.reshape(-1);
  const auto difference = (flat.index_select(0, places(rules, &RowRules::wanted, logits)) -
                           flat.index_select(0, places(firsts, &RowRules::wanted, logits)))
                              .cpu();
  const float* next = difference.const_data_ptr<float>();
  std::vector<std::vector<TokenScore>> scores(rules.size());
  for (size_t row = 0; row < rules.size(); ++row)
    for (const int32_t token : rules[row].wanted)
      scores[row].push_back({token, *next++ + best.log_probabilities[row * best.width]});
  return scores;
}

void remove_banned(std::span<const RowRules> rules, BestTokens& best) {
  for (size_t row = 0; row < rules.size(); ++row) {
    if (rules[row].banned.empty()) continue;
    int32_t* ids = best.ids.data() + row * best.width;
    float* values = best.log_probabilities.data() + row * best.width;
    int64_t kept = 0;
    for (int64_t i = 0; i < best.width; ++i) {
      if (std::ranges::find(rules[row].banned, ids[i]) != rules[row].banned.end()) continue;
      ids[kept] = ids[i];
      values[kept++] = values[i];
    }
    std::fill(ids + kept, ids + best.width, BestTokens::kNone);
    std::fill(values + kept, values + best.width, -std::numeric_limits<float>::infinity());
  }
}

}  // namespace

StepScores step_scores(torch::Tensor& logits, std::span<const RowRules> rules, int64_t count,
                       const SearchOptions& options, std::span<const double> uniforms) {
  if (rules.empty()) {
    if (options.sampling) return {.best = draw_tokens(logits, *options.sampling, rules, uniforms), .wanted = {}};
    return {.best = best_tokens(logits, count), .wanted = {}};
  }
  if (options.repetition_penalty != 1) penalise_repetition(logits, rules, options.repetition_penalty);
  size_t max_banned = 0;
  for (const auto& row : rules) max_banned = std::max(max_banned, row.banned.size());
  StepScores scores;
  scores.best = options.sampling ? draw_tokens(logits, *options.sampling, rules, uniforms)
                                 : best_tokens(logits, count + static_cast<int64_t>(max_banned));
  scores.wanted = wanted_scores(logits, rules, scores.best);
  remove_banned(rules, scores.best);
  return scores;
}

}  // namespace nmt
