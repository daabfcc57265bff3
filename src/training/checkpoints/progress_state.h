#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

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
  int64_t validations_since_best = 0;
  int64_t averaged_update = -1;                ///< where averages of checkpoints were last tried
  std::vector<ScoredUpdate> best_validations;  ///< of training.average_best, best first
  Plateau plateau;

  int64_t skipped_updates = 0;  ///< not finite
  int64_t skipped_in_a_row = 0;
  std::vector<std::string> events;  ///< what ends the promise of equal bits, such as a batch split for lack of memory

  // What the bits are a function of besides configuration and data.
  std::string precision, device, kernels, cpu, torch_version, data_hash;
  int64_t threads = 0;

  nlohmann::json to_json() const;
  static ProgressState from_json(const nlohmann::json& json);  ///< throws nlohmann::json::exception
};

}  // namespace nmt
