// The group of processes on devices, whose communicator is a fake one: processes are threads, their sums run late, on
// streams of their own, and are waited for as NCCL's are.
#include "training/distributed/device_process_group.h"

#include <c10/core/Event.h>
#include <c10/core/impl/VirtualGuardImpl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <barrier>
#include <map>
#include <mutex>
#include <optional>
#include <thread>

#include "base/error.h"
#include "models/formula_weights.h"
#include "models/make_model.h"
#include "models/model_directory.h"
#include "nn/device/move_module.h"
#include "on_device/tiny_presets.h"
#include "simulated_device/simulated_device.h"
#include "support.h"
#include "tensor_support.h"
#include "training/distributed/gradient_buckets.h"
#include "training/optimizers/adam.h"
#include "training/optimizers/sharded_optimizer.h"
#include "training/trained_update.h"

namespace nmt::device_process_group_test {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;

/// What the fake communicators of one run share.
struct Meeting {
  explicit Meeting(int64_t size) : all(size), size(size) {}
  std::barrier<> all;
  int64_t size;
  std::mutex mutex;
  std::map<int64_t, std::vector<torch::Tensor>> given;  ///< of each sum, by rank
  bool forgets_to_wait = false;  ///< a mistake: the sum does not come after what was launched before
};

/// Values are taken when a sum begins, on a stream of the communicator's; they meet when it is waited for: the
/// processes are threads, whose backward passes share the one thread that autograd has for a device, and none may stop
/// there.
class FakeCommunicator final : public Communicator {
 public:
  FakeCommunicator(Meeting& meeting, int64_t rank) : meeting_(meeting), rank_(rank) {}

  std::unique_ptr<Sum> sum(const torch::Tensor& values) override {
    const c10::impl::VirtualGuardImpl guard(values.device().type());
    c10::Event before(values.device().type());
    before.record(guard.getStream(values.device()));
    const simulated::OnStream own(rank_ + 1);
    if (!meeting_.forgets_to_wait) before.block(guard.getStream(values.device()));
    const std::lock_guard lock(meeting_.mutex);
    auto& given = meeting_.given[sums_];
    given.resize(meeting_.size);
    given[rank_] = values.clone();
    return std::make_unique<FakeSum>(meeting_, rank_, sums_++, values);
  }
  /// The others give zeros, so that the sum has the owner's numbers.
  std::unique_ptr<Sum> broadcast(const torch::Tensor& values, int64_t owner) override {
    if (owner != rank_) values.zero_();
    return sum(values);
  }

 private:
  class FakeSum final : public Sum {
   public:
    FakeSum(Meeting& meeting, int64_t rank, int64_t number, torch::Tensor values)
        : meeting_(meeting), rank_(rank), number_(number), values_(std::move(values)) {}
    void wait() override {
      const auto device = values_.device();
      const c10::impl::VirtualGuardImpl guard(device.type());
      c10::Event done(device.type());
      {
        const simulated::OnStream own(rank_ + 1);
        simulated::finish();  // the others read what was taken here
        meeting_.all.arrive_and_wait();
        const auto& given = meeting_.given.at(number_);
        auto total = given[0];
        for (size_t other = 1; other < given.size(); ++other) total = total + given[other];
        values_.copy_(total);
        done.record(guard.getStream(device));
        meeting_.all.arrive_and_wait();
      }
      done.block(guard.getStream(device));
    }

   private:
    Meeting& meeting_;
    int64_t rank_, number_;
    torch::Tensor values_;
  };
  Meeting& meeting_;
  int64_t rank_;
  int64_t sums_ = 0;
};

int64_t free_port() {
  const int handle = ::socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  EXPECT_EQ(::bind(handle, reinterpret_cast<sockaddr*>(&address), size), 0);
  EXPECT_EQ(::getsockname(handle, reinterpret_cast<sockaddr*>(&address), &size), 0);
  ::close(handle);
  return ntohs(address.sin_port);
}

/// Runs `body` once for each process, on a thread.
void run_processes(Meeting& meeting, int64_t size, const std::function<void(ProcessGroup&)>& body) {
  const int64_t port = free_port();
  std::vector<std::exception_ptr> errors(size);
  {
    std::vector<std::jthread> threads;
    for (int64_t rank = 0; rank < size; ++rank)
      threads.emplace_back([&, rank] {
        try {
          const LaunchedProcess process{
              .launcher = "test", .rank = rank, .size = size, .local_rank = rank, .address = "127.0.0.1", .port = port};
          const auto group = make_device_process_group(
              process, simulated::device(), 60, [](const std::string& line) { ADD_FAILURE() << line; },
              [&](const auto&) { return std::make_unique<FakeCommunicator>(meeting, rank); });
          body(*group);
        } catch (...) {
          errors[rank] = std::current_exception();
        }
      });
  }
  for (const auto& error : errors)
    if (error) std::rethrow_exception(error);
}

class DeviceProcessGroupTest : public ::testing::Test {
 protected:
  void TearDown() override {
    simulated::finish();
    simulated::set_order(simulated::Order::kAtOnce);
  }
};

TEST_F(DeviceProcessGroupTest, SumsAndShares) {
  simulated::set_order(simulated::Order::kLate);
  Meeting meeting(3);
  run_processes(meeting, 3, [](ProcessGroup& group) {
    EXPECT_EQ(group.size(), 3);
    EXPECT_FALSE(group.adds_in_order());
    std::vector<double> values = {1.0 + static_cast<double>(group.rank()), 10};
    group.sum(values);
    EXPECT_THAT(values, ::testing::ElementsAre(6, 30));
    group.wait_for_all();
    EXPECT_EQ(group.share(group.leads() ? "what rank 0 says" : "what others say"), "what rank 0 says");
    const auto bucket_values = torch::full({5}, static_cast<float>(group.rank() + 1), simulated::device());
    const auto bucket = group.make_bucket(bucket_values);
    for (int round = 0; round < 2; ++round) {
      bucket->add(3);
      bucket->finish();
      bucket->wait_finished();
      const auto after = bucket_values * 2;  // comes after the sum
      EXPECT_EQ(after.sum().item<float>(), 2 * 5 * 6 * (round == 0 ? 1 : 3));
    }
  });
}

// Two processes over two micro-batches make the update that one process makes over both.
TEST_F(DeviceProcessGroupTest, UpdatesAreThoseOfOneProcess) {
  const auto trained = [](ProcessGroup* group) {
    const auto config = test::model_config("d_model: 16, d_ff: 24, num_blocks: 1, num_heads: 2, dropout_rate: 0");
    const auto model = make_model(config, test::kPresetVocabulary, test::kPresetVocabulary);
    initialise(*model, config, 1);
    const auto device = simulated::device();
    move_module(*model, device);
    const auto parameters = named_parameters(*model);
    Adam adam(parameters, {});
    std::unique_ptr<GradientBuckets> buckets;
    if (group) buckets = std::make_unique<GradientBuckets>(parameters, *group, 2048);
    std::vector<torch::Tensor> weights;
    for (int64_t update = 1; update <= 2; ++update)
      test::update({*model, adam, device, buckets.get()},
                   {test::batch_of(test::preset_pairs(3, update)), test::batch_of(test::preset_pairs(4, 9 + update))},
                   {.clip_norm = 1, .smoothing = 0.1}, 0.01, {7, update});
    for (const auto& item : parameters) weights.push_back(item.second.detach().cpu());
    return weights;
  };
  for (const auto order : {simulated::Order::kAtOnce, simulated::Order::kLate, simulated::Order::kSeeded}) {
    simulated::set_order(order, 3);
    const auto alone = trained(nullptr);
    Meeting meeting(2);
    std::vector<std::vector<torch::Tensor>> of(2);
    run_processes(meeting, 2, [&](ProcessGroup& group) { of[group.rank()] = trained(&group); });
    for (size_t i = 0; i < alone.size(); ++i) {
      EXPECT_TRUE(of[0][i].equal(of[1][i])) << i;
      test::expect_close(of[0][i], alone[i], 2e-5, std::to_string(i));
    }
  }
}

TEST_F(DeviceProcessGroupTest, AShardedOptimizerIsTheWholeOne) {
  const auto trained = [](ProcessGroup* group) {
    NamedTensors parameters;
    for (const auto& [name, size] : {std::pair("a", 40), std::pair("b", 30), std::pair("c", 20)})
      parameters.emplace_back(name, test::wave({size}).to(simulated::device()).requires_grad_(true));
    const auto make = [](NamedTensors some) { return std::make_unique<Adam>(std::move(some), Adam::Options{}); };
    std::optional<StateShares> shares;
    if (group) shares.emplace(parameters, *group);
    std::unique_ptr<Optimizer> optimizer;
    if (group)
      optimizer = std::make_unique<ShardedOptimizer>(parameters, *shares, make);
    else
      optimizer = make(parameters);
    for (int update = 0; update < 3; ++update) {
      for (auto& [name, parameter] : parameters) parameter.mutable_grad() = parameter.detach().sin();
      optimizer->step_unless(torch::zeros({}, simulated::device()), 0.01);
    }
    auto all = group ? shares->gathered(optimizer->state()) : optimizer->state();
    if (all.empty()) return std::vector<torch::Tensor>();
    all.insert(all.end(), parameters.begin(), parameters.end());
    std::vector<torch::Tensor> values;
    for (const auto& item : all) values.push_back(item.second.detach().cpu());
    return values;
  };
  for (const auto order : {simulated::Order::kAtOnce, simulated::Order::kLate}) {
    simulated::set_order(order);
    const auto alone = trained(nullptr);
    Meeting meeting(2);
    std::vector<std::vector<torch::Tensor>> of(2);
    run_processes(meeting, 2, [&](ProcessGroup& group) { of[group.rank()] = trained(&group); });
    EXPECT_THAT(of[1], IsEmpty());
    ASSERT_EQ(of[0].size(), alone.size());
    for (size_t i = 0; i < alone.size(); ++i) EXPECT_TRUE(of[0][i].equal(alone[i])) << i;
  }
}

TEST_F(DeviceProcessGroupTest, AMissingWaitIsFound) {
  simulated::set_order(simulated::Order::kLate);
  const simulated::Violations violations;
  Meeting meeting(1);
  meeting.forgets_to_wait = true;
  run_processes(meeting, 1, [](ProcessGroup& group) {
    const auto values = torch::ones({5}, simulated::device());
    const auto bucket = group.make_bucket(values);
    bucket->add(1);
    bucket->wait_finished();
  });
  ASSERT_EQ(violations.found().size(), 1U);
  EXPECT_THAT(violations.found()[0], HasSubstr("a wait is missing"));
}

}  // namespace
}  // namespace nmt::device_process_group_test
