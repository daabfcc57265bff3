#pragma once

#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "evaluation/evaluation_files.h"
#include "evaluation/test_set.h"
#include "scoring/corpus/metric.h"
#include "translation/reranking.h"

namespace nmt {

/// One of the translations of a line that a search found.
struct Candidate {
  std::string text = {};
  double score = 0;                   ///< of the search
  std::vector<double> features = {};  ///< RerankFeatures
};

/// Weights for score + sum of weight · feature that give the best corpus score when each line takes its best candidate
/// by that sum (minimum error rate training, Och 2003): each weight in turn takes the best value of a grid while that
/// gains, from several beginnings. steps: of the grid of each feature, which has 20 of them on both sides of 0. Ties go
/// to the smaller change.
std::vector<double> tune_weights(std::span<const std::vector<Candidate>> lines, const scoring::References& references,
                                 const scoring::Metric& metric, std::span<const double> steps);

/// Finds weights for BLEU of the set, and writes rerank.json into the directory of the first of `models`. Returns the
/// search's own translations and the reranked ones with their scores and the test of their difference. Throws Error as
/// Reranker and options_for_reranking().
TestSetResults tune_reranking(const ModelSet& models, const TestSet& test_set,
                              const std::vector<std::filesystem::path>& further, const std::string& device,
                              const TranslationCalls& calls);

}  // namespace nmt
