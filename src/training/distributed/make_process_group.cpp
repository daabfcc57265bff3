#include "training/distributed/make_process_group.h"

#include <fmt/format.h>

#include "base/error.h"
#include "nn/device/device.h"
#include "training/distributed/communicators.h"
#include "training/distributed/launched_process.h"
#include "training/distributed/mpi_process_group.h"

namespace nmt {

void check_batches_for(int64_t processes, const Config& config) {
  if (processes == 1 || processes <= config.training.accumulate) return;
  throw Error(fmt::format(
      "training.accumulate {}: {} processes need at least so many batches in one update (it counts those of all "
      "processes); set training.accumulate to {} or a multiple of it",
      config.training.accumulate, processes, processes));
}

std::unique_ptr<ProcessGroup> make_process_group(const LaunchedProcess& process, torch::Device device,
                                                 const Config& config, OnLost on_lost) {
  if (process.size == 1) return std::make_unique<SingleProcess>();
  check_batches_for(process.size, config);
  if (!capabilities_of(device).host)
    return make_process_group_on(device, process, config.run.process_timeout, std::move(on_lost));
  return make_mpi_process_group(process, config.run.process_timeout, std::move(on_lost));
}

}  // namespace nmt
