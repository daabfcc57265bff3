#include "training/distributed/nccl_process_group.h"

#include <fmt/format.h>

#include "base/error.h"
#include "base/process/clock.h"

#ifdef NMT_WITH_NCCL

#include <ATen/ops/from_blob.h>
#include <c10/cuda/CUDAFunctions.h>

#include <chrono>
#include <exception>
#include <thread>
#include <torch/csrc/distributed/c10d/PrefixStore.hpp>
#include <torch/csrc/distributed/c10d/ProcessGroupNCCL.hpp>
#include <torch/csrc/distributed/c10d/TCPStore.hpp>

#include "training/distributed/launched_process.h"
#include "training/distributed/peer_watch.h"

namespace nmt {
namespace {

using StorePtr = c10::intrusive_ptr<c10d::Store>;

constexpr auto kToMeet = std::chrono::minutes(5);    // processes start at different times
constexpr auto kForEver = std::chrono::hours(1000);  // the life signs are the time limit: validation takes long
constexpr double kFarewell = 2;                      // seconds that a failed process leaves the others to hear of it

StorePtr meet(const LaunchedProcess& process, bool opens) {
  c10d::TCPStoreOptions options;
  options.port = static_cast<uint16_t>(process.port);
  options.isServer = opens;
  options.waitWorkers = false;
  options.timeout = kToMeet;
  try {
    return c10::make_intrusive<c10d::PrefixStore>("nmt", c10::make_intrusive<c10d::TCPStore>(process.address, options));
  } catch (const std::exception& error) {
    throw MachineError(fmt::format("rank {}: no meeting at {}:{} (MASTER_ADDR, MASTER_PORT): {}", process.rank,
                                   process.address, process.port, error.what()));
  }
}

std::string life_key(int64_t rank) { return fmt::format("life/{}", rank); }

class NcclProcessGroup final : public ProcessGroup {
 public:
  NcclProcessGroup(const LaunchedProcess& process, torch::Device device, int64_t timeout, OnLost on_lost)
      : rank_(process.rank),
        size_(process.size),
        device_(device),
        timeout_(static_cast<double>(timeout)),
        on_lost_(std::move(on_lost)) {
    c10::cuda::set_device(device.index());
    const bool opens = process.rank == 0 && !process.meeting_is_open;
    store_ = meet(process, opens);
    life_ = meet(process, false);  // a connection of its own: the other may be waiting
    auto options = c10d::ProcessGroupNCCL::Options::create();
    options->timeout = kForEver;
    nccl_ =
        c10::make_intrusive<c10d::ProcessGroupNCCL>(store_, static_cast<int>(rank_), static_cast<int>(size_), options);
    say(LifeSign::kAtWork);
    std::vector<std::string> keys;
    for (int64_t peer = 0; peer < size_; ++peer) keys.push_back(life_key(peer));
    try {
      store_->wait(keys, kToMeet);
    } catch (const std::exception&) {
      throw MachineError(fmt::format("rank {}: not all of the {} processes have come to {}:{}", rank_, size_,
                                     process.address, process.port));
    }
    thread_ = std::thread([this, keys] { watch(keys); });
    wait_for_all();  // NCCL connects them
  }

  ~NcclProcessGroup() override {
    if (!thread_.joinable()) return;
    const bool failed = std::uncaught_exceptions() > exceptions_before_;
    farewell_ = failed ? LifeSign::kFailed : LifeSign::kDone;
    thread_.join();
    if (failed) nccl_.release();  // its work would never end: the process does
  }

  int64_t rank() const override { return rank_; }
  int64_t size() const override { return size_; }
  bool adds_in_order() const override { return false; }
  void expect_progress(bool on) override { progress_.expect(on, steady_seconds()); }
  void show_progress() override { progress_.show(steady_seconds()); }

  void sum(std::span<double> values) override {
    double nothing = 0;
    const std::span<double> sent = values.empty() ? std::span(&nothing, 1) : values;
    const auto host = at::from_blob(sent.data(), {static_cast<int64_t>(sent.size())}, at::kDouble);
    progress_.wait(true, steady_seconds());
    std::vector<at::Tensor> on_device = {host.to(device_)};
    nccl_->allreduce(on_device)->wait();
    host.copy_(on_device[0]);
    progress_.wait(false, steady_seconds());
  }

  std::unique_ptr<BucketSum> make_bucket(torch::Tensor values) override;

  c10d::ProcessGroupNCCL& nccl() { return *nccl_; }

 private:
  void say(LifeSign sign) { life_->set(life_key(rank_), fmt::format("{} {}", static_cast<int>(sign), ++spoken_)); }

  void watch(const std::vector<std::string>& keys) {
    PeerWatch watch(rank_, size_, timeout_, steady_seconds());
    std::vector<std::string> before(keys.size());
    double parting = 0;
    for (;;) {
      const double now = steady_seconds();
      const bool hung = progress_.hung(now, timeout_);
      const LifeSign own = hung ? LifeSign::kHung : farewell_.load();
      if (own == LifeSign::kAtWork) parting = 0;
      if (own != LifeSign::kAtWork && parting == 0) parting = now;
      try {
        say(own);
        const auto signs = life_->multiGet(keys);
        for (size_t peer = 0; peer < keys.size(); ++peer) {
          const std::string sign(signs[peer].begin(), signs[peer].end());
          if (sign != std::exchange(before[peer], sign))
            watch.heard(static_cast<int64_t>(peer), static_cast<LifeSign>(sign[0] - '0'), now);
        }
      } catch (const std::exception&) {
        if (own == LifeSign::kDone) return;  // process 0, which holds the store, is done too
        on_lost_(
            "rank 0, where the processes meet, is dead or cut off; started again, the run goes on from its last "
            "checkpoint");
      }
      if (own == LifeSign::kDone && watch.all_done()) {
        // Where all others have read it: the store goes with process 0.
        if (rank_ == 0) std::this_thread::sleep_for(std::chrono::duration<double>(2 * watch.interval()));
        return;
      }
      if (own == LifeSign::kFailed && now - parting > kFarewell) return;
      if (hung && now - parting > kFarewell / 2) on_lost_(own_hang(rank_, timeout_));
      if (const auto line = watch.lost(now)) on_lost_(*line);
      const double pause = own == LifeSign::kAtWork ? watch.interval() / 2 : 0.1;
      for (double slept = 0; slept < pause && farewell_.load() == own; slept += 0.05)
        std::this_thread::sleep_for(std::chrono::milliseconds(50));
    }
  }

  const int64_t rank_, size_;
  const torch::Device device_;
  const double timeout_;
  const OnLost on_lost_;
  const int exceptions_before_ = std::uncaught_exceptions();
  StorePtr store_, life_;
  c10::intrusive_ptr<c10d::ProcessGroupNCCL> nccl_;
  int64_t spoken_ = 0;
  OwnProgress progress_;
  std::atomic<LifeSign> farewell_ = LifeSign::kAtWork;
  std::thread thread_;
};

class NcclBucketSum final : public BucketSum {
 public:
  NcclBucketSum(NcclProcessGroup& group, torch::Tensor values) : group_(group), values_({std::move(values)}) {}
  // On NCCL's stream, behind what the current one has been given so far.
  void add(int64_t) override { work_ = group_.nccl().allreduce(values_); }
  void wait_added() override { wait_finished(); }
  void finish() override {}
  void wait_finished() override {
    if (work_) work_->wait();  // what the current stream is given from now on comes after; the host does not wait
    work_.reset();
  }

 private:
  NcclProcessGroup& group_;
  std::vector<at::Tensor> values_;
  c10::intrusive_ptr<c10d::Work> work_;
};

std::unique_ptr<BucketSum> NcclProcessGroup::make_bucket(torch::Tensor values) {
  return std::make_unique<NcclBucketSum>(*this, std::move(values));
}

}  // namespace

std::unique_ptr<ProcessGroup> make_nccl_process_group(const LaunchedProcess& process, torch::Device device,
                                                      int64_t timeout, OnLost on_lost) {
  if (process.address.empty())
    throw Error(
        fmt::format("{} started {} processes on several machines: set MASTER_ADDR to the name of that of rank 0",
                    process.launcher, process.size));
  return std::make_unique<NcclProcessGroup>(process, device, timeout, std::move(on_lost));
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
