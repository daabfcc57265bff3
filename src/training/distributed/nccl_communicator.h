#pragma once

#include <memory>

#include "training/distributed/launched_process.h"
#include "training/distributed/process_group.h"

namespace nmt {

/// Processes on GPUs, one each, over NCCL (LibTorch's c10d). They meet at process.address:port. Totals are summed in
/// NCCL's order, which does not depend on time but on the number of processes. Throws Error where this program is built
/// without NCCL, MachineError where the processes do not meet. timeout: seconds, see PeerWatch.
std::unique_ptr<ProcessGroup> make_nccl_process_group(const LaunchedProcess& process, torch::Device device,
                                                      int64_t timeout, OnLost on_lost);

}  // namespace nmt
