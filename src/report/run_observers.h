#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/process/log.h"
#include "report/records/run_records.h"
#include "report/records/training_observer.h"
#include "report/tensorboard/tensorboard_observer.h"

namespace nmt {

/// Shows a run while it runs. On a terminal a progress bar and above it what is worth keeping (epochs, validations,
/// checkpoints); elsewhere, and in log.txt in any case, a plain line for each log interval too, for the first update
/// and for one each 30 s where nothing else was said.
class ConsoleObserver final : public TrainingObserver {
 public:
  /// log: with its file added already (add_log_file).
  explicit ConsoleObserver(Logger& log, Clock clock = steady_seconds);

  void on_start(const TrainingStart& start) override;
  void on_update(const UpdateReport& report) override;
  void on_interval(const TrainingInterval& interval) override;
  void on_epoch(const EpochReport& report) override;
  void on_validation(const ValidationReport& report) override;
  void on_checkpoint(int64_t update) override;
  void on_end(const std::string& reason) override;

 private:
  /// A line on every sink, above the bar.
  void tell(const std::string& line);
  /// A line for those who do not see the bar.
  void tell_without_bar(const std::string& line);
  void begin_silence();

  Logger& log_;
  Logger files_;  ///< log_ without the screen
  std::optional<ProgressBar> bar_;
  std::string note_;
  Clock clock_;
  Pulse pulse_;
  int64_t expected_ = 0;  // updates of the whole run
  bool begins_ = true;    // the first update is still to come
  // Since the last line.
  double since_ = 0;
  int64_t updates_ = 0, target_tokens_ = 0;
};

// What it writes.

/// "run quickstart: 1,234,567 parameters, cpu, bf16, 2 threads; 12 epochs of about 130 updates".
std::string format_start(const TrainingStart& start);
/// "epoch 2 update 1,234: loss 3.211 ppl 8.42 ...": a line of the log.
std::string format_interval(const TrainingInterval& interval);
/// "epoch 1 update 1: loss 8.312 ppl 3,912.40 lr 3.333e-06": of one update; behind it speed and time left where they
/// are not negative.
std::string format_update(const UpdateReport& update, double target_tokens_per_second, double seconds_left);
/// The same as format_interval, shorter, for the place behind a progress bar.
std::string format_bar_note(const TrainingInterval& interval);
/// "validation at update 260: loss ...", then the lines of the scores and the samples, one after the other.
/// Control characters of the samples, and what is not UTF-8, are question marks.
std::vector<std::string> format_validation(const ValidationReport& report);

/// Updates that a run will have done at its end; 0 if that is not known.
int64_t expected_updates(const TrainingStart& start);

struct RunObserverOptions {
  std::filesystem::path directory;  ///< of the run
  bool tensorboard = true;
  TensorBoardTags tensorboard_tags = TensorBoardTags::kPlain;
  CurveIntervals tensorboard_curves = CurveIntervals::kOfLog;
  Facts environment = {};                               ///< versions and machine, for sessions.jsonl and report.html
  std::vector<std::string> other_validation_sets = {};  ///< names, of data.eval
};

/// All that reports a run: what MetricsWriter and TensorBoardObserver write into its directory, the console and log,
/// and at the end report.html. Throws Error or MachineError as these do.
std::unique_ptr<TrainingObserver> make_run_observers(const RunObserverOptions& options, Logger& log);

}  // namespace nmt
