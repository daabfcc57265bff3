#pragma once

#include <functional>
#include <optional>
#include <string>

#include "base/process/app.h"
#include "base/process/log.h"
#include "config/config.h"
#include "data/batches.h"
#include "report/records/training_observer.h"
#include "training/checkpoints/progress_state.h"
#include "training/distributed/process_group.h"
#include "training/loop/averages.h"
#include "training/loop/best_model.h"
#include "training/loop/interval_meter.h"
#include "training/loop/train_update.h"
#include "training/optimizers/schedule.h"

namespace nmt {

/// Why a run ends here, by the first limit that it reached; nullopt: it continues. minutes: of training, over all
/// sessions.
std::optional<std::string> reason_to_end(const Config& config, const ProgressState& progress, double minutes);

/// Updates until the nearest limit in updates or epochs, for an estimate of the time; nullopt where neither is set.
std::optional<int64_t> updates_left(const TrainingConfig& config, const ProgressState& progress,
                                    int64_t batches_per_epoch);

/// SIGINT or SIGTERM where a run is to end with its state saved, else 0. Asked after each update and often in between;
/// an update or a validation under way is cancelled.
using StopSignal = std::function<int()>;

/// A run that is resumed forgets the validation that it made only since it ended.
void forget_extra_validation(ProgressState& progress);

/// The order of things in a run: updates, and between them reports, validations, checkpoints and the question whether
/// to continue. Of several processes each has a loop; all have the same progress; the one that leads measures, logs and
/// writes, and what it alone knows (signals, time, validation) they agree on at fixed places.
class UpdateLoop {
 public:
  struct Parts {
    const Config& config;
    UpdateParts update;
    Schedule schedule;
    BatchStream& batches;
    MovingAverage* average = nullptr;  ///< follows the weights
    /// Called in every process before one of them writes a checkpoint's state; empty: nothing is to be done.
    std::function<void()> gather_state = {};
    bool validates = false;     ///< there is a validation set
    bool saves_epochs = false;  ///< a checkpoint at the end of each epoch, too
    // Set in the process that leads; null in the others.
    BestModel* best = nullptr;
    const RunCheckpoints* checkpoints = nullptr;
    ProcessGroup& group;
    TrainingObserver& observer;
    Logger& log;
    Clock clock = steady_seconds;
    StopSignal stop_signal = nmt::stop_signal;
  };
  /// progress: where the run stands; its checkpoint is on the disk where it is not at its beginning.
  UpdateLoop(Parts parts, ProgressState& progress);

  /// Trains to the end or to SIGINT or SIGTERM (of any process) with the state saved. Returns the signal, or 0.
  int run();

  /// The report of the epoch that ended with the last update, where one did.
  std::optional<EpochReport> epoch_end() const;

 private:
  /// An update whose figures are still to come.
  struct Launched {
    int64_t epoch, number;
    double learning_rate;
    LaunchedUpdate update;
  };

  void update();
  ScheduleTime schedule_time() const;
  std::vector<Batch> next_batches();
  void follow_stages();
  void account_for_launched();
  void report_interval();
  void report_curve_point(int64_t epoch, int64_t number, double learning_rate);
  void agree();
  bool is_interrupted();
  bool validation_due() const;
  bool checkpoint_due() const;
  std::optional<std::string> reason_to_end() const;
  int64_t current_epoch() const;
  void save_and_validate(bool saves, bool validates);
  void save_checkpoint();
  void validate();
  void finish();

  Parts parts_;
  ProgressState& progress_;
  IntervalMeter meter_;
  IntervalMeter curve_meter_;  // of run.tensorboard_every
  UpdateGuard guard_;
  std::optional<Launched> launched_;
  bool epoch_ended_ = false;
  int64_t stage_;              ///< of the last update
  double learning_rate_ = 0;   ///< of the last update
  int64_t saved_update_ = -1;  ///< whose checkpoint is on the disk
  double session_start_ = 0, seconds_before_ = 0;
  // What the processes last agreed on.
  int stop_signal_ = 0;
  double session_seconds_ = 0;
};

}  // namespace nmt
