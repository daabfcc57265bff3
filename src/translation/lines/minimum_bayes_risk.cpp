#include "translation/lines/minimum_bayes_risk.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <numeric>
#include <string_view>
#include <tuple>

#include "scoring/metrics/bleu.h"
#include "scoring/metrics/chrf.h"

namespace nmt {
namespace {

std::unique_ptr<scoring::Metric> metric_of(RiskUtility utility) {
  if (utility == RiskUtility::kChrf) return std::make_unique<scoring::Chrf>();
  return std::make_unique<scoring::Bleu>(scoring::BleuOptions{.effective_order = true});
}

}  // namespace

std::vector<double> expected_utilities(std::span<const std::string> texts, std::span<const double> weights,
                                       RiskUtility utility) {
  const auto metric = metric_of(utility);
  const auto scorer = metric->segment_scorer();
  std::vector<double> sums(static_cast<size_t>(metric->columns()));
  std::vector<double> expected(texts.size(), 0.0);
  for (size_t reference = 0; reference < texts.size(); ++reference) {
    const std::string_view text = texts[reference];
    scorer->set_references({&text, 1});
    for (size_t candidate = 0; candidate < texts.size(); ++candidate) {
      scorer->statistics(texts[candidate], sums);
      expected[candidate] += weights[reference] * metric->score_of(sums).score;
    }
  }
  const double all = std::accumulate(weights.begin(), weights.end(), 0.0);
  for (double& one : expected) one /= all;
  return expected;
}

void rank_by_risk(std::vector<Alternative>& alternatives, const SearchOptions& options) {
  double most = -std::numeric_limits<double>::infinity();
  for (const auto& one : alternatives) most = std::max(most, one.log_probability);
  std::map<std::string_view, size_t> places;
  std::vector<Alternative> distinct;
  std::vector<std::string> texts;
  std::vector<double> weights;
  for (auto& one : alternatives) {
    const auto [place, is_new] = places.emplace(one.text, texts.size());
    if (is_new) {
      texts.push_back(one.text);
      weights.push_back(0);
    }
    weights[place->second] += options.sampling ? 1 : std::exp(one.log_probability - most);
    if (is_new) distinct.push_back(one);
  }
  const auto expected = expected_utilities(texts, weights, options.mbr);
  for (size_t i = 0; i < distinct.size(); ++i) distinct[i].expected_utility = expected[i];
  std::ranges::stable_sort(distinct, std::greater<>(), [](const Alternative& one) {
    return std::tuple(one.finished, one.meets_constraints, one.expected_utility);
  });
  alternatives = std::move(distinct);
}

}  // namespace nmt
