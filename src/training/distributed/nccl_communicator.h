#pragma once

#include "training/distributed/device_process_group.h"

namespace nmt {

/// NCCL's (LibTorch's c10d), for processes on GPUs, one each. It sums in an order that does not depend on time but on
/// the number of processes. Null in a program that is built without NCCL.
MakeDeviceCommunicator nccl_communicator();

}  // namespace nmt
