#include "training/distributed/communicators.h"

#include <c10/core/DeviceType.h>
#include <fmt/format.h>

#include "base/error.h"
#include "nn/device/by_device_type.h"

#ifdef NMT_WITH_NCCL

#include <c10/cuda/CUDAFunctions.h>

#include <chrono>
#include <cstdlib>
#include <torch/csrc/distributed/c10d/ProcessGroupNCCL.hpp>

namespace nmt {
namespace {

constexpr auto kForEver = std::chrono::hours(1000);  // the life signs are the time limit: validation takes long

class NcclCommunicator final : public Communicator {
 public:
  NcclCommunicator(const LaunchedProcess& process, torch::Device device, const c10::intrusive_ptr<c10d::Store>& store) {
    c10::cuda::set_device(device.index());
    // Life signs tell of a dead process, in one line: LibTorch's own watch would abort the others before. 0: no
    // handling. torchrun sets 1 for every program.
    ::setenv("TORCH_NCCL_ASYNC_ERROR_HANDLING", "0", 1);
    auto options = c10d::ProcessGroupNCCL::Options::create();
    options->timeout = kForEver;
    nccl_ = c10::make_intrusive<c10d::ProcessGroupNCCL>(store, static_cast<int>(process.rank),
                                                        static_cast<int>(process.size), options);
  }

  std::unique_ptr<Sum> sum(const torch::Tensor& values) override {
    std::vector<at::Tensor> all = {values};
    return std::make_unique<NcclSum>(nccl_->allreduce(all));
  }

  std::unique_ptr<Sum> broadcast(const torch::Tensor& values, int64_t owner) override {
    std::vector<at::Tensor> all = {values};
    c10d::BroadcastOptions options;
    options.rootRank = owner;
    return std::make_unique<NcclSum>(nccl_->broadcast(all, options));
  }

 private:
  class NcclSum final : public Sum {
   public:
    explicit NcclSum(c10::intrusive_ptr<c10d::Work> work) : work_(std::move(work)) {}
    void wait() override { work_->wait(); }

   private:
    c10::intrusive_ptr<c10d::Work> work_;
  };

  c10::intrusive_ptr<c10d::ProcessGroupNCCL> nccl_;
};

}  // namespace

MakeDeviceCommunicator nccl_communicator() {
  return [](const LaunchedProcess& process, torch::Device device, const c10::intrusive_ptr<c10d::Store>& store) {
    return std::make_unique<NcclCommunicator>(process, device, store);
  };
}

}  // namespace nmt

#else

namespace nmt {

MakeDeviceCommunicator nccl_communicator() { return nullptr; }

}  // namespace nmt

#endif

namespace nmt {
namespace {

ByDeviceType<MakeDeviceCommunicator>& communicators() {
  static ByDeviceType<MakeDeviceCommunicator> communicators({{torch::kCUDA, nccl_communicator()}});
  return communicators;
}

}  // namespace

void set_communicator(c10::DeviceType type, MakeDeviceCommunicator make) { communicators().set(type, std::move(make)); }

std::unique_ptr<ProcessGroup> make_process_group_on(torch::Device device, const LaunchedProcess& process,
                                                    int64_t timeout, OnLost on_lost) {
  const auto make = communicators().of(device.type());
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
