#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "base/strict_json.h"
#include "data/batch_stream.h"
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
  // they are the same where the limit is raised and the run goes on.
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
  int64_t threads = 0;

  /// Notes an event; from the twentieth on it is counted only, so that state.json stays small.
  void add_event(std::string event);

  /// What is not finite survives: it is written as "nan", "inf" or "-inf".
  nlohmann::json to_json() const;
  /// Throws nlohmann::json::exception where a value is missing or of another type. Older versions wrote null for what
  /// is not finite.
  static ProgressState from_json(const nlohmann::json& json);
};

/// Of state.json; one without a number is of format 1, which the toolkit reads, too.
constexpr int64_t kProgressFormat = 2;

}  // namespace nmt
