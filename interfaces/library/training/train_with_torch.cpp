#include "library/training/train_with_torch.h"

#include <ATen/Parallel.h>

#include <csignal>
#include <memory>
#include <utility>

#include "compat/training/run_names.h"
#include "library/training/training_events.h"
#include "models/guest_model.h"
#include "nn/device/device.h"
#include "training/distributed/process_group.h"
#include "training/run_training.h"

namespace nmt::api {
namespace {

/// LibTorch's number of threads is one for the whole process: as it was before, when a run has ended.
class KeptThreads {
 public:
  KeptThreads() : before_(at::get_num_threads()) {}
  ~KeptThreads() { at::set_num_threads(before_); }
  KeptThreads(const KeptThreads&) = delete;
  KeptThreads& operator=(const KeptThreads&) = delete;

 private:
  int before_;
};

}  // namespace
}  // namespace nmt::api

__attribute__((visibility("default"))) void nmt_train_with_torch(const nmt::api::TrainingJob& job,
                                                                 nmt::api::TrainedRun& trained) {
  using namespace nmt;
  require_matching_torch();
  const OwnTorchSettings settings;
  const api::KeptThreads threads;
  const NoProgressBars no_bars;
  const auto& config = job.configuration.config;
  api::TrainingEvents::Outcome told;
  SingleProcess alone;
  TrainingRun run{.loaded = job.configuration,
                  .process = LaunchedProcess(),
                  .device = resolve_device(config.run.device),
                  .group = alone};
  if (std::exchange(job.restart, false)) run.start = RunDirectory::Start::kRestart;
  run.versions = {{"SentencePiece", NMT_SENTENCEPIECE_VERSION}};
  if (auto names = compat::make_run_names(config)) run.observers.push_back(std::move(names));
  run.observers.push_back(std::make_unique<api::TrainingEvents>(job.callbacks, told));
  run.stop_signal = [stop = job.stop] { return stop.stop_requested() ? SIGINT : 0; };
  const auto outcome = run_training(std::move(run), job.log);
  trained.stopped = outcome.exit_code != 0;
  trained.reason = std::move(told.reason);
  trained.updates = outcome.progress.update;
  trained.has_best = outcome.progress.best_update >= 0;
  trained.best = std::move(told.best);
}
