#pragma once

#include <memory>

#include "training/distributed/launched_process.h"
#include "training/distributed/process_group.h"

namespace nmt {

/// Processes on CPUs, over MPI. All calls of MPI are made by one thread of the group, which also sends and watches life
/// signs. Totals are summed in the order of ranks: process r owns the r-th part of each bucket, gets that part from all
/// processes, adds them one after the other, and hands the total round. Throws Error where this program is built
/// without MPI, or the launcher is not one of MPI's. timeout: seconds, see PeerWatch.
std::unique_ptr<ProcessGroup> make_mpi_process_group(const LaunchedProcess& process, int64_t timeout, OnLost on_lost);

}  // namespace nmt
