#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/files/strict_json.h"
#include "translation/model_set.h"

namespace nmt {

/// How the n best translations of a line are put in another order: by a sum of the search's score and of what further
/// models say, each with a weight (Och and Ney 2002; models of the other direction: Li and Jurafsky 2016).
struct Reranking {
  struct Model {
    std::filesystem::path directory = {};  ///< relative paths start at the model directory that is reranked
    std::string sha256 = {};               ///< of its weights
    double weight = 0;                     ///< of its mean log-probability of a piece
  };
  std::vector<Model> models = {};
  double length = 0;  ///< for each piece of the translation; above 0: longer ones are preferred

  std::vector<double> weights() const;  ///< of RerankFeatures, in their order
};

/// MODEL/rerank.json. Throws Error where there is none (and says how to make one) or where it is damaged.
Reranking read_reranking(const std::filesystem::path& model);
/// tuned: how the weights were found, for a reader. Throws MachineError.
void write_reranking(const std::filesystem::path& model, const Reranking& reranking, nlohmann::ordered_json tuned);

/// [translations][alternatives][models + 1]: of each model the mean log-probability of a piece; then the number of
/// pieces.
using RerankFeatures = std::vector<std::vector<std::vector<double>>>;

/// Puts the best alternative of each translation first: what ended before what was cut, then what meets its
/// constraints, then by the search's score + sum of weight · feature. Keeps n_best of each. Scores stay those of the
/// search.
void rank_by_features(std::vector<Translation>& translations, const RerankFeatures& features,
                      std::span<const double> weights, int64_t n_best);

/// Puts n best translations in another order. Its models may translate in the direction of the ranked one, or in the
/// other: then they score the source as the translation of its translation.
class Reranker {
 public:
  /// Loads the models; threads: of ModelSetOptions. Throws Error as ModelSet; for one whose weights are others than
  /// when the file was written (an empty sha256 is any); for one of other languages than `ranked`; and where languages
  /// are not known.
  Reranker(Reranking reranking, const ReadyModel& ranked, const std::string& device, int threads = 0);

  /// One list for each source and its translation.
  RerankFeatures features(std::span<const std::string> sources, std::span<const Translation> translations,
                          const TranslationCalls& calls = {}) const;

  /// rank_by_features() with the weights of the file.
  void rank(std::span<const std::string> sources, std::vector<Translation>& translations, int64_t n_best,
            const TranslationCalls& calls = {}) const;

  /// With their hashes.
  const Reranking& reranking() const { return reranking_; }

 private:
  struct Model {
    std::unique_ptr<ModelSet> models;
    std::unique_ptr<Translator> translator;
    bool reversed = false;  // it reads what the ranked model writes
  };

  Reranking reranking_;
  std::vector<Model> models_;
};

/// The options of a search whose translations are reranked: all of the beam. Throws Error for a beam of one, samples
/// and minimum Bayes risk.
TranslatorOptions options_for_reranking(TranslatorOptions options);

}  // namespace nmt
