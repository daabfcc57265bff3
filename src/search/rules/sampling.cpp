#include "search/rules/sampling.h"

#include <ATen/Parallel.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/error.h"
#include "text/tokenizer.h"

namespace nmt {
namespace {

/// The tokens that may be drawn from one row.
class Candidates {
 public:
  Candidates(std::span<const float> logits, std::span<const int32_t> banned, const DecodingConfig& options)
      : logits_(logits), temperature_(options.temperature) {
    std::vector<bool> allowed(logits.size(), true);
    allowed[SpecialIds::kPad] = allowed[SpecialIds::kBegin] = false;
    for (const int32_t id : banned) allowed[id] = false;
    for (size_t id = 0; id < logits.size(); ++id)
      if (allowed[id] && std::isfinite(logits[id])) ids_.push_back(static_cast<int32_t>(id));
    if (ids_.empty()) return;
    highest_ = logits[*std::ranges::max_element(ids_, {}, [&](int32_t id) { return logits_[id]; })];
    if (options.top_k > 0) keep_most_probable(std::min(std::ssize(ids_), options.top_k));
    if (options.top_p < 1) keep_mass(options.top_p);
  }

  /// The token at which the cumulative probability passes `uniform`.
  int32_t draw(double uniform) const {
    if (ids_.empty()) return BestTokens::kNone;
    double left = uniform * mass();
    for (const int32_t id : ids_) {
      left -= weight(id);
      if (left < 0) return id;
    }
    return ids_.back();  // rounding
  }

 private:
  double weight(int32_t id) const { return std::exp((static_cast<double>(logits_[id]) - highest_) / temperature_); }
  double mass() const {
    return std::accumulate(ids_.begin(), ids_.end(), 0.0, [&](double sum, int32_t id) { return sum + weight(id); });
  }
  bool is_more_probable(int32_t a, int32_t b) const {
    return logits_[a] != logits_[b] ? logits_[a] > logits_[b] : a < b;
  }

  /// The first `count` of ids_ become the most probable ones, in order; the others follow in any order.
  void sort_first(int64_t count) {
    std::partial_sort(ids_.begin(), ids_.begin() + count, ids_.end(),
                      [&](int32_t a, int32_t b) { return is_more_probable(a, b); });
  }
  void keep_most_probable(int64_t count) {
    sort_first(count);
    ids_.resize(count);
  }
  /// The fewest tokens whose probabilities sum to `share`. Mostly these are few, so the rest is not sorted.
  void keep_mass(double share) {
    const double wanted = share * mass();
    for (int64_t sorted = std::min<int64_t>(64, std::ssize(ids_));; sorted = std::min(8 * sorted, std::ssize(ids_))) {
      sort_first(sorted);
      double sum = 0;
      for (int64_t i = 0; i < sorted; ++i) {
        sum += weight(ids_[i]);
        if (sum >= wanted) return ids_.resize(i + 1);
      }
      if (sorted == std::ssize(ids_)) return;
    }
  }

  std::span<const float> logits_;
  double temperature_, highest_ = 0;
  std::vector<int32_t> ids_;
};

double log_sum_exp(std::span<const float> logits) {
  const double highest = *std::ranges::max_element(logits);
  double sum = 0;
  for (const float logit : logits) sum += std::exp(logit - highest);
  const double result = highest + std::log(sum);
  if (!std::isfinite(result))
    throw Error("the model's output is not a number: its weights are damaged; use another checkpoint");
  return result;
}

}  // namespace

BestTokens draw_tokens(const torch::Tensor& device_logits, const DecodingConfig& options,
                       std::span<const RowRules> rules, std::span<const double> uniforms) {
  const auto logits = device_logits.cpu().contiguous();  // [rows, vocabulary]
  const int64_t rows = logits.size(0), vocabulary = logits.size(1);
  BestTokens drawn{.width = 1, .ids = {}, .log_probabilities = {}};
  drawn.ids.resize(rows);
  drawn.log_probabilities.assign(rows, -std::numeric_limits<float>::infinity());
  at::parallel_for(0, rows, 1, [&](int64_t begin, int64_t end) {
    for (int64_t row = begin; row < end; ++row) {
      const std::span<const float> of_row(logits.const_data_ptr<float>() + row * vocabulary, vocabulary);
      const auto banned = rules.empty() ? std::span<const int32_t>() : std::span(rules[row].banned);
      const double whole = log_sum_exp(of_row);
      const int32_t id = drawn.ids[row] = Candidates(of_row, banned, options).draw(uniforms[row]);
      if (id != BestTokens::kNone) drawn.log_probabilities[row] = static_cast<float>(of_row[id] - whole);
    }
  });
  return drawn;
}

}  // namespace nmt
