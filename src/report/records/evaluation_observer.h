#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace nmt {

/// What one system made of a test set, a line each.
struct TranslatedText {
  std::vector<std::string> sources, references, hypotheses;
};

/// Hears of an evaluation, for files beside those of nmt-eval. A test set that is the only one has an empty name.
class EvaluationObserver {
 public:
  using Models = std::vector<std::filesystem::path>;  ///< the model directories of one system

  virtual ~EvaluationObserver() = default;
  /// Before any work. Throws Error where a file could not be written.
  virtual void on_start(const std::vector<Models>& systems, const std::vector<std::string>& test_sets) = 0;
  /// What one system made of one test set, when all scores are known. Throws Error, MachineError.
  virtual void on_result(const Models& system, const std::string& test_set, const TranslatedText& text) = 0;
};

/// The text of a results file, with any figure, such as "17.146408907717394":
///   - source: ...
///   - expected: ...
///   - got: ...
///   (an empty line)
///   Bleu Score = 17.146408907717394
std::string format_results_file(const TranslatedText& text, const std::string& figure);

}  // namespace nmt
