#include "evaluation/rerank_tuning.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <string_view>
#include <utility>

#include "base/error.h"
#include "evaluation/evaluation.h"
#include "scoring/metrics/bleu.h"

namespace nmt {
namespace {

namespace fs = std::filesystem;

/// The corpus score of weights: sums of what the metric counted in the chosen candidates.
class Objective {
 public:
  Objective(std::span<const std::vector<Candidate>> lines, const scoring::References& references,
            const scoring::Metric& metric)
      : lines_(lines), metric_(metric), columns_(static_cast<size_t>(metric.columns())) {
    const auto scorer = metric.segment_scorer();
    for (size_t i = 0; i < lines.size(); ++i) {
      std::vector<std::string_view> own;
      for (const auto& file : references) own.emplace_back(file[i]);
      scorer->set_references(own);
      auto& counts = counts_.emplace_back();
      for (const auto& candidate : lines[i]) {
        counts.resize(counts.size() + columns_);
        scorer->statistics(candidate.text, std::span(counts).last(columns_));
      }
    }
  }

  double operator()(std::span<const double> weights) const {
    std::vector<double> sums(columns_);
    for (size_t i = 0; i < lines_.size(); ++i) {
      const auto* counts = counts_[i].data() + best(lines_[i], weights) * columns_;
      for (size_t column = 0; column < columns_; ++column) sums[column] += counts[column];
    }
    return metric_.score_of(sums).score;
  }

 private:
  static size_t best(const std::vector<Candidate>& candidates, std::span<const double> weights) {
    const auto sum = [&](const Candidate& one) {
      return std::inner_product(weights.begin(), weights.end(), one.features.begin(), one.score);
    };
    return std::ranges::max_element(candidates, {}, sum) - candidates.begin();
  }

  std::span<const std::vector<Candidate>> lines_;
  const scoring::Metric& metric_;
  size_t columns_;
  std::vector<std::vector<double>> counts_;  // [line][candidates * columns]
};

constexpr int kSteps = 20;

/// Returns the score of `weights`, which it changes.
double climb(const Objective& objective, std::span<const double> steps, std::vector<double>& weights) {
  double best = objective(weights);
  for (bool gained = true; gained;) {
    gained = false;
    for (size_t i = 0; i < weights.size(); ++i) {
      auto tried = weights;
      for (int step = 0; step <= 2 * kSteps; ++step) {  // 0, 1, -1, 2, -2, ...
        tried[i] = steps[i] * (step % 2 == 1 ? (step + 1) / 2 : -step / 2);
        const double score = objective(tried);
        if (score <= best + 1e-9) continue;
        best = score, weights = tried, gained = true;
      }
    }
  }
  return best;
}

/// Candidates of each line: an empty line has one, which is empty.
std::vector<std::vector<Candidate>> candidates_of(const std::vector<Translation>& translations,
                                                  const RerankFeatures& features, size_t columns) {
  std::vector<std::vector<Candidate>> lines;
  for (size_t i = 0; i < translations.size(); ++i) {
    auto& candidates = lines.emplace_back();
    const auto& alternatives = translations[i].alternatives;
    for (size_t k = 0; k < alternatives.size(); ++k)
      candidates.push_back({alternatives[k].text, alternatives[k].score, features[i][k]});
    if (candidates.empty()) candidates.push_back({.features = std::vector<double>(columns)});
  }
  return lines;
}

Evaluated evaluated(std::string name, const std::vector<Translation>& translations, const TestSet& test_set,
                    const Metrics& metrics) {
  Evaluated result;
  result.output.name = std::move(name);
  for (const auto& translation : translations) result.output.hypotheses.push_back(translation.text);
  result.scores = score(result.output, test_set, 1, metrics);
  return result;
}

}  // namespace

std::vector<double> tune_weights(std::span<const std::vector<Candidate>> lines, const scoring::References& references,
                                 const scoring::Metric& metric, std::span<const double> steps) {
  const Objective objective(lines, references, metric);
  std::vector<std::vector<double>> beginnings = {std::vector<double>(steps.size())};
  for (size_t i = 0; i < steps.size(); ++i) {
    auto& beginning = beginnings.emplace_back(steps.size());
    beginning[i] = steps[i] * kSteps / 2;
  }
  std::vector<double> best = beginnings.front();
  double best_score = objective(best);
  for (auto& weights : beginnings) {
    const double score = climb(objective, steps, weights);
    if (score > best_score + 1e-9) best_score = score, best = weights;
  }
  return best;
}

TestSetResults tune_reranking(const ModelSet& models, const TestSet& test_set, const std::vector<fs::path>& further,
                              const std::string& device, const TranslationCalls& calls) {
  const auto& directory = models.first().directory;
  Reranking reranking;
  for (const auto& path : further) reranking.models.push_back({.directory = fs::absolute(path)});
  const Translator translator(models.members(), options_for_reranking(models.options()));
  const Reranker reranker(reranking, models.first(), device);
  auto translations = translator.translate(test_set.sources, calls);
  const auto features = reranker.features(test_set.sources, translations, calls);

  constexpr double kWeightStep = 0.05, kLengthStep = 0.005;
  std::vector<double> steps(further.size(), kWeightStep);
  steps.push_back(kLengthStep);
  const scoring::Bleu bleu{scoring::BleuOptions{}};
  const auto weights =
      tune_weights(candidates_of(translations, features, steps.size()), test_set.references, bleu, steps);

  reranking = reranker.reranking();
  for (size_t i = 0; i < further.size(); ++i) {
    auto& model = reranking.models[i];
    model.directory = fs::relative(further[i], directory);
    model.weight = weights[i];
  }
  reranking.length = weights.back();
  const auto metrics = evaluation_metrics();
  TestSetResults results{.test_set = test_set};
  results.systems.push_back(evaluated(directory.string(), translations, test_set, metrics));
  rank_by_features(translations, features, weights, 1);
  std::string name = "reranked:";
  for (const auto& model : reranking.models) name += fmt::format(" {:g} {}", model.weight, model.directory.string());
  results.systems.push_back(
      evaluated(fmt::format("{}, length {:g}", name, reranking.length), translations, test_set, metrics));
  results.comparison = compare({results.systems[0].output, results.systems[1].output}, test_set, metrics);
  write_reranking(directory, reranking,
                  {{"sentences", test_set.sources.size()},
                   {"source", test_set.source_file.string()},
                   {"beam_size", translator.options().search.beam_size},
                   {"bleu", {results.systems[0].scores.front().score, results.systems[1].scores.front().score}}});
  return results;
}

}  // namespace nmt
