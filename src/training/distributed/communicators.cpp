#include "training/distributed/communicators.h"

#include <c10/core/DeviceType.h>
#include <fmt/format.h>

#include <map>
#include <mutex>

#include "base/error.h"
#include "training/distributed/nccl_communicator.h"

namespace nmt {
namespace {

class Communicators {
 public:
  static Communicators& get() {
    static Communicators communicators;
    return communicators;
  }
  MakeDeviceCommunicator of(c10::DeviceType type) {
    const std::lock_guard lock(mutex_);
    const auto found = makers_.find(type);
    return found == makers_.end() ? nullptr : found->second;
  }
  void set(c10::DeviceType type, MakeDeviceCommunicator make) {
    const std::lock_guard lock(mutex_);
    makers_[type] = std::move(make);
  }

 private:
  std::mutex mutex_;
  std::map<c10::DeviceType, MakeDeviceCommunicator> makers_{{torch::kCUDA, nccl_communicator()}};
};

}  // namespace

void set_communicator(c10::DeviceType type, MakeDeviceCommunicator make) {
  Communicators::get().set(type, std::move(make));
}

std::unique_ptr<ProcessGroup> make_process_group_on(torch::Device device, const LaunchedProcess& process,
                                                    int64_t timeout, OnLost on_lost) {
  const auto make = Communicators::get().of(device.type());
  if (!make)
    throw Error(fmt::format(
        "{} started {} processes on devices of type {}, but this program has nothing that sums over them: for GPUs it "
        "has to be built with a LibTorch for CUDA whose nccl.h CMake finds",
        process.launcher, process.size, c10::DeviceTypeName(device.type(), /*lower_case=*/true)));
  if (process.address.empty())
    throw Error(
        fmt::format("{} started {} processes on several machines: set MASTER_ADDR to the name of that of rank 0",
                    process.launcher, process.size));
#ifdef USE_DISTRIBUTED  // as LibTorch was built
  return make_device_process_group(
      process, device, timeout, std::move(on_lost),
      [&](const c10::intrusive_ptr<c10d::Store>& store) { return make(process, device, store); });
#else
  throw Error(fmt::format("{} started {} processes, but this LibTorch is built without torch.distributed: take another",
                          process.launcher, process.size));
#endif
}

}  // namespace nmt
