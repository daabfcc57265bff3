#include "training/distributed/device_process_group.h"

#ifdef USE_DISTRIBUTED  // as LibTorch was built

#include <ATen/ops/empty_like.h>
#include <ATen/ops/from_blob.h>
#include <fmt/format.h>

#include <chrono>
#include <exception>
#include <thread>
#include <torch/csrc/distributed/c10d/PrefixStore.hpp>
#include <torch/csrc/distributed/c10d/TCPStore.hpp>

#include "base/error.h"
#include "base/process/log.h"
#include "training/distributed/process_group.h"

namespace nmt {
namespace {

using StorePtr = c10::intrusive_ptr<c10d::Store>;

constexpr auto kToMeet = std::chrono::minutes(5);  // processes start at different times
constexpr double kShutdown = 2;                    // seconds that a failed process leaves the others to hear of it

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
                                   process.address, process.port, first_line(error)));
  }
}

std::string life_key(int64_t rank) { return fmt::format("life/{}", rank); }

class DeviceProcessGroup final : public ProcessGroup {
 public:
  DeviceProcessGroup(const LaunchedProcess& process, torch::Device device, int64_t timeout, OnLost on_lost,
                     const MakeCommunicator& make_communicator)
      : rank_(process.rank),
        size_(process.size),
        device_(device),
        timeout_(static_cast<double>(timeout)),
        on_lost_(std::move(on_lost)) {
    const bool opens = process.rank == 0 && !process.meeting_is_open;
    store_ = meet(process, opens);
    life_ = meet(process, false);  // a connection of its own: the other may be waiting
    try {
      communicator_ = make_communicator(store_);
    } catch (...) {
      say(LifeSign::kFailed);  // the others would wait for this process
      throw;
    }
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
    connect();
  }

  ~DeviceProcessGroup() override {
    if (!thread_.joinable()) return;
    leave(std::uncaught_exceptions() > exceptions_before_ ? LifeSign::kFailed : LifeSign::kDone);
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
    const auto on_device = host.to(device_);
    communicator_->sum(on_device)->wait();
    host.copy_(on_device);
    progress_.wait(false, steady_seconds());
  }

  // Where one process receives, the others have no tensor of that size: one is made for the time it takes.
  void hand_over(std::span<const OwnedTensor> tensors, Receivers receivers) override {
    std::vector<std::unique_ptr<Communicator::Sum>> under_way;
    for (const auto& [values, owner] : tensors) {
      if (receivers == Receivers::kAll)
        under_way.push_back(communicator_->broadcast(values, owner));
      else
        communicator_->broadcast(values.is_meta() ? at::empty_like(values, device_) : values, owner)->wait();
    }
    for (const auto& broadcast : under_way) broadcast->wait();
  }

  std::unique_ptr<BucketSum> make_bucket(torch::Tensor values) override;

  Communicator& communicator() { return *communicator_; }

 private:
  /// The first work of the communicator connects the devices. The destructor does not run where that fails.
  void connect() {
    try {
      wait_for_all();
    } catch (const std::exception& error) {
      leave(LifeSign::kFailed);
      throw MachineError(
          fmt::format("rank {}: the devices of the {} processes cannot be connected (each needs one of its own): {}",
                      rank_, size_, first_line(error)));
    }
  }

  void leave(LifeSign shutdown) {
    shutdown_ = shutdown;
    thread_.join();
    if (shutdown == LifeSign::kFailed) (void)communicator_.release();  // its work would never end: the process does
  }

  void say(LifeSign sign) { life_->set(life_key(rank_), fmt::format("{} {}", static_cast<int>(sign), ++spoken_)); }

  void watch(const std::vector<std::string>& keys) {
    PeerWatch watch(rank_, size_, timeout_, steady_seconds());
    std::vector<std::string> before(keys.size());
    double parting = 0;
    for (;;) {
      const double now = steady_seconds();
      const bool hung = progress_.hung(now, timeout_);
      const LifeSign own = hung ? LifeSign::kHung : shutdown_.load();
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
        if (own == LifeSign::kDone || own == LifeSign::kFailed) return;  // process 0, which holds the store, ends too
        on_lost_(
            "rank 0, where the processes meet, is dead or cut off; started again, the run resumes from its last "
            "checkpoint");
      }
      if (own == LifeSign::kDone && watch.all_done()) {
        // Where all others have read it: the store goes with process 0.
        if (rank_ == 0) std::this_thread::sleep_for(std::chrono::duration<double>(2 * watch.interval()));
        return;
      }
      if (own == LifeSign::kFailed && now - parting > kShutdown) return;
      if (hung && now - parting > kShutdown / 2) on_lost_(own_hang(rank_, timeout_));
      if (const auto line = watch.lost(now); line && own != LifeSign::kFailed)
        on_lost_(*line);  // else all fail at once
      const double pause = own == LifeSign::kAtWork ? watch.interval() / 2 : 0.1;
      for (double slept = 0; slept < pause && shutdown_.load() == own; slept += 0.05)
        std::this_thread::sleep_for(std::chrono::milliseconds(50));
    }
  }

  const int64_t rank_, size_;
  const torch::Device device_;
  const double timeout_;
  const OnLost on_lost_;
  const int exceptions_before_ = std::uncaught_exceptions();
  StorePtr store_, life_;
  std::unique_ptr<Communicator> communicator_;
  int64_t spoken_ = 0;
  OwnProgress progress_;
  std::atomic<LifeSign> shutdown_ = LifeSign::kAtWork;
  std::thread thread_;
};

class CommunicatorBucketSum final : public BucketSum {
 public:
  CommunicatorBucketSum(DeviceProcessGroup& group, torch::Tensor values) : group_(group), values_(std::move(values)) {}
  // On a stream of the communicator's, behind what the current one has been given so far.
  void add(int64_t) override { sum_ = group_.communicator().sum(values_); }
  void wait_added() override { wait_finished(); }
  void finish() override {}
  void wait_finished() override {
    if (sum_) sum_->wait();  // what the current stream is given from now on comes after; the host does not wait
    sum_.reset();
  }

 private:
  DeviceProcessGroup& group_;
  torch::Tensor values_;
  std::unique_ptr<Communicator::Sum> sum_;
};

std::unique_ptr<BucketSum> DeviceProcessGroup::make_bucket(torch::Tensor values) {
  return std::make_unique<CommunicatorBucketSum>(*this, std::move(values));
}

}  // namespace

std::unique_ptr<ProcessGroup> make_device_process_group(const LaunchedProcess& process, torch::Device device,
                                                        int64_t timeout, OnLost on_lost,
                                                        const MakeCommunicator& make_communicator) {
  return std::make_unique<DeviceProcessGroup>(process, device, timeout, std::move(on_lost), make_communicator);
}

}  // namespace nmt

#endif
