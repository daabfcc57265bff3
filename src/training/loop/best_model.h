#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <set>
#include <string>

#include "base/files/strict_json.h"
#include "base/process/log.h"
#include "config/config.h"
#include "models/interface/model.h"
#include "report/records/training_observer.h"
#include "training/checkpoints/progress_state.h"
#include "training/loop/averages.h"

namespace nmt {

/// What validation.best_metric compares: larger is better (losses negated). Of reports with a BLEU or chrF of 0, as at
/// the beginning of a training, the one with the lower loss is better, and each is worse than one with more.
double validation_score(const ValidationReport& report, ValidationMetric best_metric);

/// What the configuration compares: the score of the first set, or the mean over all sets (validation.best_of).
double validation_score(const ValidationReport& report, const ValidationConfig& config);

/// Measures weights and keeps the best of them in the run's folder best/: those of updates, their moving average, and
/// averages of checkpoints. In the progress it keeps the best score, the validations since then (early stopping) and
/// the list of the best validations. A score that is not finite is never best and never listed. Of several processes
/// only the one that leads has a BestModel.
class BestModel {
 public:
  struct Parts {
    TranslationModel& model;
    const Config& config;
    std::function<ValidationReport()> measure;  ///< the weights that the model has now; empty: nothing to measure on
    ModelWriter write_model;
    std::filesystem::path folder;  ///< best/
    const CheckpointStore& checkpoints;
    const MovingAverage* average = nullptr;  ///< measured, too
    TrainingObserver& observer;
    Logger& log;
  };
  BestModel(Parts parts, ProgressState& progress) : parts_(std::move(parts)), progress_(progress) {}

  /// Validates the weights of progress.update, which is one of epoch 1, 2, ..., and their moving average. Everything is
  /// measured before anything is recorded: what `measure` throws leaves no trace. due: by the configuration, and not
  /// only since the run ends here. True: it was due, and there is a new best of those that were.
  bool validate(int64_t epoch, bool due);
  /// At the end of a run without validation: the last weights are taken for the best.
  void save_last();
  /// At the end of a run: validates the averages of the last and of the best checkpoints (training.average_checkpoints,
  /// average_best), if that was not done; the model keeps its weights. True: something was validated.
  bool try_averages(int64_t epoch);

 private:
  ValidationReport measure();
  bool is_missing() const;
  void list(double score);
  bool note_due_scores(const ValidationReport& report, const std::optional<ValidationReport>& of_average);
  void record(ValidationReport report, int64_t epoch, const std::string& weights);
  void save_measured(const ValidationReport& report);
  void save(const nlohmann::json& summary);
  nlohmann::json summary(const std::string& weights) const;
  std::set<std::set<int64_t>> averages_to_try() const;

  Parts parts_;
  ProgressState& progress_;
};

}  // namespace nmt
