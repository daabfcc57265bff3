#include "training/distributed/nccl_communicator.h"

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
