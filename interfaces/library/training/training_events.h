#pragma once

#include <optional>
#include <string>

#include "nmt/trainer.h"
#include "report/records/training_observer.h"

namespace nmt::api {

ValidationFigures to_figures(const nmt::ValidationReport& report);

/// What a run's callbacks and its result are told.
class TrainingEvents final : public nmt::TrainingObserver {
 public:
  /// What outlives the observer.
  struct Outcome {
    std::optional<ValidationFigures> best = {};  ///< of this session
    std::string reason = {};
  };
  /// Borrows the outcome.
  TrainingEvents(const TrainingCallbacks& callbacks, Outcome& outcome);

  void on_start(const nmt::TrainingStart& start) override;
  void on_update(const nmt::UpdateReport& report) override;
  void on_interval(const nmt::TrainingInterval& interval) override;
  void on_epoch(const nmt::EpochReport& report) override;
  void on_validation(const nmt::ValidationReport& report) override;
  void on_checkpoint(int64_t update) override;
  void on_end(const std::string& reason) override;

 private:
  TrainingCallbacks callbacks_;  // shielded
  Outcome& outcome_;
};

}  // namespace nmt::api
