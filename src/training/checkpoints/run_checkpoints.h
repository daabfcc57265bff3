#pragma once

#include <filesystem>
#include <functional>

#include "base/strict_json.h"
#include "models/interface/safetensors.h"
#include "training/checkpoints/checkpoint.h"
#include "training/checkpoints/progress_state.h"

namespace nmt {

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
  /// was stopped and went on has those of an unbroken one.
  void save(const ProgressState& progress, int64_t extra = -1) const;
  /// Of an update whose checkpoint stands and whose weights are those: what has changed since is the progress.
  void save_progress(const ProgressState& progress) const;

 private:
  int64_t keep(const ProgressState& progress) const;

  Parts parts_;
};

}  // namespace nmt
