#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "nmt/configuration.h"
#include "nmt/log.h"
#include "nmt/prepare.h"
#include "nmt/stop_token.h"

NMT_API_BEGIN

/// What a run is, told once at its start.
struct TrainingStart {
  std::string run_directory;           ///< run.dir
  std::int64_t parameters = 0;         ///< weights
  std::int64_t update = 0;             ///< 0, or where a run resumes
  std::int64_t max_updates = 0;        ///< 0: not limited by updates
  std::int64_t updates_per_epoch = 0;  ///< of the first epoch; later ones may differ a little
  std::int64_t max_epochs = 0;         ///< 0: not limited by epochs
  std::string device, precision;       ///< of training: cpu, cuda:0; fp32 or bf16
  std::int64_t threads = 0;            ///< of the processor
};

/// One update.
struct UpdateFigures {
  std::int64_t epoch = 1, update = 0;  ///< from 1
  double loss = 0;                     ///< nats per target token, smoothed: the objective
  double perplexity = 0;               ///< exp of the unsmoothed loss
  double accuracy = 0;                 ///< share of target tokens with the highest probability, in [0, 1]
  double learning_rate = 0;            ///< of this update
  double gradient_norm = 0;            ///< before clipping
  std::int64_t source_tokens = 0, target_tokens = 0;  ///< of its batches, without padding
  bool skipped = false;  ///< loss or gradient was not finite: the weights stayed as they were
};

/// The updates of a log interval (run.log_every), as metrics.jsonl has them.
struct IntervalFigures {
  std::int64_t epoch = 1, update = 0;                                 ///< of the last update
  double loss = 0, perplexity = 0, accuracy = 0;                      ///< as in UpdateFigures, of all its tokens
  double learning_rate = 0, gradient_norm = 0;                        ///< of the last update
  double source_tokens_per_second = 0, target_tokens_per_second = 0;  ///< without padding
  std::int64_t target_tokens = 0;                                     ///< since the start of the run
  std::int64_t skipped_updates = 0;                                   ///< the same
  double seconds_left = -1;                                           ///< estimate; negative: not known
};

/// An epoch that has ended.
struct EpochFigures {
  std::int64_t epoch = 1, update = 0;  ///< its number and that of its last update
  double loss = 0, perplexity = 0;     ///< means over its updates per target token
};

/// A line of a validation set as the model translates it.
struct ValidationSample {
  std::string source, reference, hypothesis;  ///< a line of the set, its reference and its translation
};

/// A validation of weights on one set.
struct ValidationFigures {
  std::int64_t epoch = 1, update = 0;             ///< after which it was
  std::string set = {};                           ///< name of the set, where there are several
  double loss = 0, perplexity = 0, accuracy = 0;  ///< as in UpdateFigures, of the set's tokens
  std::optional<double> bleu = {}, chrf = {};     ///< in percent
  std::string bleu_text = {}, chrf_text = {};     ///< as sacreBLEU prints them, with signature
  bool is_best = false;                           ///< the best validation so far: written to best/
  double seconds = 0;                             ///< that it took
  std::string weights = {};  ///< empty: those of this update; else what they are, "average of updates 100, 200"
  std::vector<ValidationSample> samples = {};      ///< validation.samples translations
  std::vector<ValidationFigures> other_sets = {};  ///< they do not decide what is best
};

/// Each may be empty. All are called by run(), one after the other. What one of them throws ends the run as a kill
/// would: what the last checkpoint holds is there, and run() throws it.
struct TrainingCallbacks {
  std::function<void(const TrainingStart&)> on_start = {};           ///< before the first update
  std::function<void(const UpdateFigures&)> on_update = {};          ///< after each update
  std::function<void(const IntervalFigures&)> on_interval = {};      ///< every run.log_every updates
  std::function<void(const EpochFigures&)> on_epoch = {};            ///< after each epoch
  std::function<void(const ValidationFigures&)> on_validation = {};  ///< after each validation
  std::function<void(std::int64_t update)> on_checkpoint = {};       ///< when a checkpoint is on the disk
};

/// What is trained, and who is told.
struct TrainerOptions {
  Configuration configuration;  ///< what is trained on what
  bool restart = false;  ///< starts again; an old run directory is renamed to NAME.old-N. Else an old run resumes
  TrainingCallbacks callbacks = {};  ///< told what happens
  StopToken stop = {};               ///< ends the run with its state saved
  LogSink log = {};                  ///< log.txt in the run directory is written in any case
};

/// How a run ended.
struct TrainingResult {
  std::string run_directory;                   ///< run.dir
  std::string best_model;                      ///< model directory of the best weights; empty where there is none yet
  bool stopped = false;                        ///< the stop token ended it: run() of a new Trainer resumes
  std::string reason;                          ///< why it ended, for people
  std::int64_t updates = 0;                    ///< that the weights have had, since the start of the run
  std::optional<ValidationFigures> best = {};  ///< of best_model (without samples); none without validation
};

/// nmt-train's work in one process: trains a model on prepared data; on the run directory of a run that was stopped or
/// killed it resumes exactly where that stopped, and ends in the same bits. What it writes is what nmt-train writes.
/// (Several processes are started through nmt-train.) One run at a time in a process: run() of another waits for it, or
/// until its stop token asks. In a callback of a run it throws UserError, since it would wait for itself.
class NMT_EXPORT Trainer {
 public:
  /// Reads and checks the configuration. Throws UserError.
  explicit Trainer(TrainerOptions options);
  Trainer(const Trainer&) = default;  ///< the same trainer; what is moved from stays as it was
  Trainer& operator=(const Trainer&) = default;

  /// Trains to the end of the run, or until the stop token asks. Throws UserError (no prepared data, a run directory of
  /// other options or in use), MachineError, and what callbacks throw. May be called again: it resumes.
  TrainingResult run();
  void request_stop() const noexcept;  ///< that of the options' stop token

  /// run.dir of the configuration.
  std::string run_directory() const;
  std::string configuration() const;  ///< effective_configuration()

 private:
  class State;
  std::shared_ptr<State> state_;
};

NMT_API_END
