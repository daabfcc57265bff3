#pragma once

#include <torch/types.h>

#include <cstdint>
#include <functional>
#include <string>

namespace nmt {

/// The place of this process among those that a launcher started, from its environment.
struct LaunchedProcess {
  std::string launcher = "";  ///< mpirun, torchrun or srun; empty: started alone
  int64_t rank = 0, size = 1;
  int64_t local_rank = 0;        ///< among those of this machine
  int64_t local_size = 1;        ///< most processes on one machine; all where the launcher does not say
  std::string address = "";      ///< where process 0 is; empty where the launcher does not say
  int64_t port = 29500;          ///< of process 0, to meet at
  bool meeting_is_open = false;  ///< torchrun listens at that port itself
};

/// From the variables of mpirun (OMPI_COMM_WORLD_*), torchrun (RANK, WORLD_SIZE, LOCAL_RANK, LOCAL_WORLD_SIZE,
/// MASTER_ADDR, MASTER_PORT) or srun (SLURM_*), the first that is there. MASTER_ADDR and MASTER_PORT count in every
/// case. Throws Error where they contradict each other. environment: the value of a variable, or null, as std::getenv.
LaunchedProcess launched_process(const std::function<const char*(const char*)>& environment);

/// The device of this process: that of run.device; of several GPUs the one of its local rank. Throws Error.
torch::Device device_of(const LaunchedProcess& process, const std::string& run_device);
/// The same of a device that was found, where this machine has `count` of its kind.
torch::Device device_of(const LaunchedProcess& process, const std::string& run_device, torch::Device found,
                        int64_t count);

}  // namespace nmt
