#pragma once

#include <torch/types.h>

#include <memory>
#include <optional>
#include <string>

#include "base/process/log.h"
#include "config/config.h"
#include "data/batch_stream.h"
#include "data/prepared_data.h"
#include "models/interface/model.h"
#include "models/interface/model_initial_values.h"
#include "report/records/training_observer.h"
#include "training/checkpoints/progress_state.h"
#include "training/checkpoints/run_directory.h"
#include "training/distributed/gradient_buckets.h"
#include "training/distributed/process_group.h"
#include "training/distributed/state_shares.h"
#include "training/loop/averages.h"
#include "training/loop/best_model.h"
#include "training/loop/objectives.h"
#include "training/loop/packed_updates.h"
#include "training/loop/train_update.h"
#include "training/loop/update_loop.h"
#include "training/optimizers/low_rank.h"
#include "training/optimizers/optimizer.h"
#include "training/validation.h"

namespace nmt {

/// One run of training, from its start or from the newest whole checkpoint to its end: makes the parts of a run and
/// hands them to the UpdateLoop. A run is a function of configuration, data and device: stopped anywhere and started
/// again it gives the same bits. Of several processes each has a trainer; all have the same weights and state, and the
/// one that leads measures, logs and writes.
class Trainer {
 public:
  /// embeddings: what a new run starts from (read_initial_embeddings); one that resumes needs none. directory: null
  /// where the process does not lead. saves_epochs: a checkpoint at the end of each epoch, too.
  Trainer(Config config, const PreparedData& data, const std::vector<InitialEmbedding>& embeddings,
          torch::Device device, ProcessGroup& group, RunDirectory* directory, TrainingObserver& observer, Logger& log,
          StopSignal stop_signal = nmt::stop_signal, bool saves_epochs = false);

  /// Trains to the end, or to SIGINT or SIGTERM (of any process) with the state saved. Returns the exit code: 0, 130 or
  /// 143; where the process does not lead, 0 in every case.
  int run();
  const ProgressState& progress() const { return progress_; }

 private:
  void begin_or_resume();
  void make_plain_or_packed(const NamedTensors& trained);
  void make_adapter(const NamedTensors& matrices, const std::filesystem::path& resumed);
  NamedTensors trainer_state() const;  ///< beside the weights: the optimizer's, and the moving average
  void gather_state();                 ///< of all processes, where it is shared out among them
  void keep_files();
  UpdateLoop make_loop();
  void announce(const std::optional<EpochReport>& epoch_end) const;
  void warn_of_long_pairs() const;

  Config config_;
  const PreparedData& data_;
  ProcessGroup& group_;
  RunDirectory* directory_;
  TrainingObserver& observer_;
  Logger& log_;
  StopSignal stop_signal_;
  bool saves_epochs_;

  torch::Device device_;
  std::shared_ptr<TranslationModel> model_;
  std::unique_ptr<Objective> objective_;
  std::optional<StateShares> shares_;      // training.shard_optimizer, of several processes
  std::unique_ptr<PackedUpdates> packed_;  // where the kernels of training can make the updates
  std::unique_ptr<Optimizer> optimizer_;
  LowRankOptimizer* adapter_ = nullptr;         // the same, of training.lora_rank
  std::string base_;                            // SHA-256 of the weights that are adapted
  std::unique_ptr<GradientBuckets> gradients_;  ///< where there are several processes
  std::optional<MovingAverage> average_;
  std::optional<LossScale> loss_scale_;  // of float16
  std::optional<Validator> validator_;
  std::unique_ptr<BatchStream> batches_;
  ProgressState progress_;
  // Where the process leads.
  std::optional<RunCheckpoints> checkpoints_;
  NamedTensors gathered_state_;  // for the checkpoint that is written next
  std::optional<BestModel> best_;
};

}  // namespace nmt
