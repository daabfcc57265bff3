#include "training/distributed/nccl_communicator.h"

#include <fmt/format.h>

#include "base/error.h"

#ifdef NMT_WITH_NCCL

#include <c10/cuda/CUDAFunctions.h>

#include <chrono>
#include <torch/csrc/distributed/c10d/ProcessGroupNCCL.hpp>

#include "training/distributed/device_process_group.h"

namespace nmt {
namespace {

constexpr auto kForEver = std::chrono::hours(1000);  // the life signs are the time limit: validation takes long

class NcclCommunicator final : public Communicator {
 public:
  NcclCommunicator(const LaunchedProcess& process, torch::Device device, const c10::intrusive_ptr<c10d::Store>& store) {
    c10::cuda::set_device(device.index());
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

std::unique_ptr<ProcessGroup> make_nccl_process_group(const LaunchedProcess& process, torch::Device device,
                                                      int64_t timeout, OnLost on_lost) {
  if (process.address.empty())
    throw Error(
        fmt::format("{} started {} processes on several machines: set MASTER_ADDR to the name of that of rank 0",
                    process.launcher, process.size));
  return make_device_process_group(process, device, timeout, std::move(on_lost),
                                   [&](const c10::intrusive_ptr<c10d::Store>& store) {
                                     return std::make_unique<NcclCommunicator>(process, device, store);
                                   });
}

}  // namespace nmt

#else

namespace nmt {

std::unique_ptr<ProcessGroup> make_nccl_process_group(const LaunchedProcess& process, torch::Device, int64_t, OnLost) {
  throw Error(
      fmt::format("{} started {} processes on GPUs, but this program is built without NCCL: build it with a "
                  "LibTorch for CUDA whose nccl.h CMake finds",
                  process.launcher, process.size));
}

}  // namespace nmt

#endif
