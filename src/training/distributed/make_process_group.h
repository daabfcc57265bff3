#pragma once

#include <torch/types.h>

#include <memory>

#include "config/config.h"
#include "training/distributed/launched_process.h"
#include "training/distributed/process_group.h"

namespace nmt {

/// Throws Error for more processes than training.accumulate: each of them needs a batch of an update.
void check_batches_for(int64_t processes, const Config& config);

/// Joins the other processes: MPI on the CPU, on other devices what sums over their kind (NCCL on GPUs,
/// set_communicator); alone, a SingleProcess. Throws Error where this program is built without what it takes, or more
/// processes than training.accumulate.
std::unique_ptr<ProcessGroup> make_process_group(const LaunchedProcess& process, torch::Device device,
                                                 const Config& config, OnLost on_lost);

}  // namespace nmt
