#pragma once

#include <torch/types.h>

#include <memory>
#include <optional>

#include "base/process/log.h"
#include "config/config.h"
#include "data/batches.h"
#include "data/prepared_data.h"
#include "models/initial_embeddings.h"
#include "models/interface/model.h"
#include "report/records/training_observer.h"
#include "training/averages/moving_average.h"
#include "training/checkpoints/progress_state.h"
#include "training/checkpoints/run_directory.h"
#include "training/distributed/process_group.h"
#include "training/optimizers/optimizer.h"
#include "training/loop/train_update.h"
#include "training/validation.h"

namespace nmt {

/// One run of training, from its start or from the newest whole checkpoint to its end. A run is a function of
/// configuration, data and device: stopped anywhere and started again it gives the same bits. Of several processes each
/// has a trainer; all have the same weights and state, and the one that leads measures, logs and writes.
class Trainer {
 public:
  /// embeddings: what a run that begins anew starts from (read_initial_embeddings). directory: null where the process
  /// does not lead.
  Trainer(Config config, const PreparedData& data, const std::vector<InitialEmbedding>& embeddings,
          torch::Device device, ProcessGroup& group, RunDirectory* directory, TrainingObserver& observer, Logger& log);

  /// Trains to the end, or to SIGINT or SIGTERM (of any process) with the state saved. Returns the exit code: 0, 130 or
  /// 143; where the process does not lead, 0 in every case.
  int run();

 private:
  void begin_or_resume();
  NamedTensors trainer_state() const;  ///< beside the weights: the optimizer's, and the moving average
  void announce() const;
  void add_to_epoch(int64_t epoch, const UpdateStats& stats);
  EpochReport epoch_report() const;
  std::vector<Batch> next_batches();
  void update();
  void account_for_launched();
  void agree();
  void validate();
  void guard_against_divergence(const UpdateStats& stats, int64_t update);
  void report_interval();
  bool validation_due() const;
  bool checkpoint_due() const;
  std::optional<std::string> reason_to_end() const;

  ValidationReport measure();
  void measure_and_record();
  void remember_best_validations(double score);
  bool record(ValidationReport report, const std::string& weights);
  void save_best(const ValidationReport& report, const std::string& weights);
  void save_checkpoint();
  void finish();
  void try_averages();
  double minutes() const;

  Config config_;
  const PreparedData& data_;
  ProcessGroup& group_;
  RunDirectory* directory_;
  TrainingObserver& observer_;
  Logger& log_;

  torch::Device device_;
  std::shared_ptr<TranslationModel> model_;
  std::unique_ptr<Optimizer> optimizer_;
  std::unique_ptr<GradientBuckets> gradients_;  ///< where there are several processes
  std::optional<MovingAverage> average_;
  std::optional<Validator> validator_;
  std::unique_ptr<BatchStream> batches_;
  ProgressState progress_;
  int64_t saved_update_ = -1;
  bool epoch_ended_ = false;  ///< with the last update
  /// One whose figures are still to come.
  struct Launched {
    int64_t epoch, number;
    LaunchedUpdate update;
  };
  std::optional<Launched> launched_;

  UpdateStats interval_;  ///< sums since the last report
  int64_t interval_updates_ = 0;
  double interval_start_ = 0, session_start_ = 0, seconds_before_ = 0;
  // What the processes last agreed on.
  int stop_signal_ = 0;
  double session_seconds_ = 0;
};

}  // namespace nmt
