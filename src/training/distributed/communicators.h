#pragma once

#include <torch/types.h>

#include <functional>
#include <memory>

#include "training/distributed/device_process_group.h"

namespace nmt {

/// NCCL's (LibTorch's c10d), for processes on GPUs, one each. It sums in an order that does not depend on time but on
/// the number of processes. Null in a program that is built without NCCL.
MakeDeviceCommunicator nccl_communicator();

/// For devices of this type from now on; null: not at all. CUDA has NCCL without this, in a program that is built with
/// it.
void set_communicator(c10::DeviceType type, MakeDeviceCommunicator make);

/// make_device_process_group by the communicator of the device's type. Throws Error where there is none, or the
/// launcher does not say where process 0 is.
std::unique_ptr<ProcessGroup> make_process_group_on(torch::Device device, const LaunchedProcess& process,
                                                    int64_t timeout, OnLost on_lost);

}  // namespace nmt
