#pragma once

#include <torch/types.h>

#include <cstdint>
#include <filesystem>
#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "base/files/strict_json.h"
#include "base/process/log.h"
#include "config/config.h"
#include "data/batch_stream.h"
#include "models/interface/safetensors.h"
#include "training/checkpoints/checkpoint.h"
#include "training/optimizers/schedule.h"

namespace nmt {

/// Sums over the updates of an epoch.
struct EpochSums {
  int64_t epoch = 0;  ///< from 1; 0 = none has begun
  double loss = 0, label_loss = 0;
  int64_t target_tokens = 0;
};

/// A validation of the weights of an update.
struct ScoredUpdate {
  int64_t update = 0;
  double score = 0;  ///< larger is better
};

/// Where a run stands, beside weights and moments: state.json of a checkpoint.
struct ProgressState {
  int64_t update = 0;
  BatchPosition position;  ///< of the next batch
  int64_t target_tokens = 0;
  EpochSums epoch;     ///< of the last update
  double seconds = 0;  ///< of training, over all sessions

  int64_t validated_update = -1;  ///< the last update that was validated
  double best_score = 0;          ///< larger is better (losses negated)
  int64_t best_update = -1;       ///< -1: none yet
  // A run that ends at a limit validates once more. Learning rates and patience do not know of it, nor of averages:
  // they are the same where the limit is raised and the run resumes.
  double best_due_score = -std::numeric_limits<double>::infinity();  ///< of the validations that were due
  int64_t validations_since_best = 0;                                ///< those that were due
  int64_t extra_validation = -1;               ///< the update of a validation that was not due; -1: none
  int64_t averaged_update = -1;                ///< where averages of checkpoints were last tried
  std::vector<ScoredUpdate> best_validations;  ///< of training.average_best, best first
  int64_t extra_checkpoint = -1;  ///< the update of a checkpoint that was not due: of a stop, of an end; -1: none
  Plateau plateau;

  int64_t skipped_updates = 0;  ///< not finite
  int64_t skipped_in_a_row = 0;
  std::vector<std::string> events;  ///< the first that end the promise of equal bits, such as a split batch
  int64_t later_events = 0;         ///< those that are counted only

  // What the bits are a function of besides configuration and data.
  std::string precision, device, kernels, cpu, torch_version, data_hash;
  std::string teacher_hash = {};  ///< SHA-256 of the weights of training.teacher; empty: there is none
  int64_t threads = 0;

  /// Notes an event; from the twentieth on it is counted only, so that state.json stays small.
  void add_event(std::string event);

  /// What is not finite survives: it is written as "nan", "inf" or "-inf".
  nlohmann::json to_json() const;
  /// Throws nlohmann::json::exception where a value is missing or of another type. Older versions wrote null for what
  /// is not finite.
  static ProgressState from_json(const nlohmann::json& json);
};

/// The format of state.json; one without a number is of format 1, which the toolkit reads, too.
constexpr int64_t kProgressFormat = 2;

/// The state of a run that has not begun: what its bits are a function of besides configuration and data, as it is here
/// and now.
ProgressState fresh_progress(const Config& config, torch::Device device, const std::string& data_hash);

/// What is wrong with a checkpoint: files that are not those of checksums.json, or a state that can't be read; nullopt
/// where all is well. Throws Error for a state of a newer version of the toolkit: nothing is wrong with that.
std::optional<std::string> damage_of_checkpoint(const std::filesystem::path& checkpoint);

/// The state in a checkpoint, to resume from here and now; the number of threads is set to the run's own unless the
/// user named one. Warns of what may change the bits. Throws Error: damaged, written by a newer version, begun with
/// other data or another precision.
ProgressState resumed_progress(const std::filesystem::path& checkpoint, const ProgressState& fresh,
                               const Config& config, Logger& log);

/// The file of a checkpoint that holds a ProgressState.
constexpr const char* kProgressFile = "state.json";

/// The file of a checkpoint that holds the optimizer's state and the moving average.
constexpr const char* kTrainerState = "trainer.safetensors";

/// Writes a model directory with the weights that the model has now: save_model.
using ModelWriter = std::function<void(const std::filesystem::path&, const nlohmann::json& summary)>;

/// Writes the checkpoints of a run: those of the last updates and of the validations that are averaged at the end stay.
class RunCheckpoints {
 public:
  struct Parts {
    const CheckpointStore& store;
    ModelWriter write_model;
    std::function<NamedTensors()> trainer_state;
    int64_t keep = 1;     ///< the last so many
    bool counts = false;  ///< the last ones are averaged: one that was not due takes no other's place
  };
  explicit RunCheckpoints(Parts parts) : parts_(std::move(parts)) {}

  /// extra: the update of an older checkpoint that was not due (-1: none). If checkpoints count, it goes: a run that
  /// was stopped and resumed has those of an unbroken one.
  void save(const ProgressState& progress, int64_t extra = -1) const;
  /// Saves the progress of an update whose checkpoint stands with the same weights: only the progress has changed
  /// since.
  void save_progress(const ProgressState& progress) const;

 private:
  int64_t keep(const ProgressState& progress) const;

  Parts parts_;
};

}  // namespace nmt
