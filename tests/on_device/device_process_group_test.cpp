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
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <mutex>
#include <optional>
#include <thread>
#include <torch/csrc/distributed/c10d/PrefixStore.hpp>
#include <torch/csrc/distributed/c10d/TCPStore.hpp>

#include "base/error.h"
#include "models/formula_weights.h"
#include "models/model_directory.h"
#include "nn/device/device.h"
#include "on_device/device_under_test.h"
#include "on_device/tiny_presets.h"
#include "simulated_device/simulated_device.h"
#include "support.h"
#include "tensor_support.h"
#include "training/distributed/communicators.h"
#include "training/distributed/gradient_buckets.h"
#include "training/distributed/make_process_group.h"
#include "training/distributed/process_group.h"
#include "training/distributed/state_shares.h"
#include "training/optimizers/optimizer.h"
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

/// What a group has on_lost called with. A program ends there; a test takes the first line and lets the group continue.
class Told {
 public:
  OnLost listener() {
    return [this](const std::string& line) {
      const std::lock_guard lock(mutex_);
      if (line_.empty()) line_ = line;
      changed_.notify_all();
    };
  }
  /// That line; empty: there was none.
  std::string within(double seconds) {
    std::unique_lock lock(mutex_);
    changed_.wait_for(lock, std::chrono::duration<double>(seconds), [&] { return !line_.empty(); });
    return line_;
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::string line_;
};

/// A process of which there is nothing but its life signs, as device_process_group.cpp writes them.
class Peer {
 public:
  Peer(int64_t rank, int64_t port, LifeSign sign = LifeSign::kAtWork)
      : key_("life/" + std::to_string(rank)), sign_(sign) {
    c10d::TCPStoreOptions options;
    options.port = static_cast<uint16_t>(port);
    options.isServer = rank == 0;
    options.waitWorkers = false;
    options.timeout = std::chrono::seconds(20);
    store_ = c10::make_intrusive<c10d::PrefixStore>("nmt", c10::make_intrusive<c10d::TCPStore>("127.0.0.1", options));
    say(sign);
    thread_ = std::jthread([this](const std::stop_token& stop) {
      try {
        for (; !stop.stop_requested(); std::this_thread::sleep_for(std::chrono::milliseconds(30)))
          if (speaks_) say(sign_);
      } catch (const std::exception&) {  // the group, which holds the store, is gone
      }
    });
  }
  ~Peer() { thread_ = {}; }
  Peer(const Peer&) = delete;
  void turn(LifeSign sign) { sign_ = sign; }
  void fall_silent() { speaks_ = false; }
  void say(LifeSign sign) {
    const std::lock_guard lock(mutex_);
    store_->set(key_, std::to_string(static_cast<int>(sign)) + " " + std::to_string(++spoken_));
  }

 private:
  std::string key_;
  std::mutex mutex_;
  c10::intrusive_ptr<c10d::Store> store_;
  int64_t spoken_ = 0;
  std::atomic<bool> speaks_ = true;
  std::atomic<LifeSign> sign_;
  std::jthread thread_;
};

LaunchedProcess process_of(int64_t rank, int64_t size, int64_t port) {
  return {.launcher = "test", .rank = rank, .size = size, .local_rank = rank, .address = "127.0.0.1", .port = port};
}

/// A real process of a run of two, whose other one is a Peer; its communicator sums over itself alone.
std::unique_ptr<ProcessGroup> group_beside_a_peer(Meeting& alone, int64_t rank, int64_t port, Told& told) {
  return make_device_process_group(process_of(rank, 2, port), simulated::device(), /*timeout=*/1, told.listener(),
                                   [&](const auto&) { return std::make_unique<FakeCommunicator>(alone, 0); });
}

/// The same as rank 0, which waits for its peer: that one starts on a thread of its own.
struct PeerBesideGroup {
  PeerBesideGroup(Meeting& alone, int64_t port, Told& told) {
    std::jthread starts([&] { peer.emplace(1, port); });
    group = group_beside_a_peer(alone, 0, port, told);
  }
  std::optional<Peer> peer;
  std::unique_ptr<ProcessGroup> group;
};

/// make_process_group gives one process no communicator.
std::unique_ptr<ProcessGroup> group_of_one(Meeting& meeting, int64_t port) {
  return make_device_process_group(
      process_of(0, 1, port), simulated::device(), 60, [](const std::string& line) { ADD_FAILURE() << line; },
      [&](const auto&) { return std::make_unique<FakeCommunicator>(meeting, 0); });
}

/// Ends as a program ends where another process is lost: threads of a test that wait for each other would not end.
[[noreturn]] void end_with(const std::string& line) {
  ADD_FAILURE() << line;
  std::fflush(stdout);
  std::abort();
}

/// Runs `body` once for each process, on a thread. The group is made as nmt-train makes it: by the device's type.
void run_processes(Meeting& meeting, int64_t size, const std::function<void(ProcessGroup&)>& body) {
  const int64_t port = free_port();
  Config config;
  config.training.accumulate = size;
  config.run.process_timeout = 6;
  set_communicator(simulated::device().type(), [&](const LaunchedProcess& process, torch::Device, const auto&) {
    return std::make_unique<FakeCommunicator>(meeting, process.rank);
  });
  std::vector<std::exception_ptr> errors(size);
  {
    std::vector<std::jthread> threads;
    for (int64_t rank = 0; rank < size; ++rank)
      threads.emplace_back([&, rank] {
        try {
          const auto group =
              size == 1 ? group_of_one(meeting, port)
                        : make_process_group(process_of(rank, size, port), simulated::device(), config, end_with);
          body(*group);
        } catch (...) {
          errors[rank] = std::current_exception();
          meeting.all.arrive_and_drop();  // none of the others waits for it
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
    set_communicator(simulated::device().type(), nullptr);
  }
};

TEST_F(DeviceProcessGroupTest, SumsAndShares) {
  test::set_usual_order(test::Order::kLate);
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

/// A run as it is stopped and taken up again: by one process (null) or by those of a group.
class SavedRun {
 public:
  void train(int64_t updates, ProcessGroup* group) {
    const auto config = test::model_config("d_model: 16, d_ff: 24, num_blocks: 1, num_heads: 2, dropout_rate: 0");
    const auto model = make_model(config, test::kPresetVocabulary, test::kPresetVocabulary);
    initialise(*model, config, 1);
    const auto device = simulated::device();
    move_module(*model, device);
    const auto parameters = named_parameters(*model);
    // Biases of keys have no gradient but what rounding leaves, and Adam would make steps of it.
    Adam adam(parameters, {.epsilon = 1e-4});
    if (!saved_.empty()) put_back(parameters, adam.state());
    std::unique_ptr<GradientBuckets> buckets;
    if (group) buckets = std::make_unique<GradientBuckets>(parameters, *group, 2048);
    for (; updates > 0; --updates, ++done_)
      stats.push_back(test::update({*model, adam, device, buckets.get()}, batches_of(done_ + 1),
                                   {.clip_norm = 1, .smoothing = 0.1}, 0.01, {7, done_ + 1}));
    saved_.clear();
    for (const auto& tensors : {parameters, adam.state()})
      for (const auto& item : tensors) saved_.push_back(item.second.detach().cpu().clone());
  }
  const std::vector<torch::Tensor>& tensors() const { return saved_; }
  std::vector<UpdateStats> stats;

 private:
  // Three micro-batches: for two processes they do not come out even.
  static std::vector<Batch> batches_of(int64_t update) {
    return {test::batch_of(test::preset_pairs(3, update)), test::batch_of(test::preset_pairs(4, 9 + update)),
            test::batch_of(test::preset_pairs(2, 90 + update))};
  }
  void put_back(const NamedTensors& parameters, const NamedTensors& state) const {
    const torch::NoGradGuard no_grad;
    size_t next = 0;
    for (const auto& tensors : {parameters, state})
      for (const auto& item : tensors) item.second.copy_(saved_.at(next++));
  }

  std::vector<torch::Tensor> saved_;
  int64_t done_ = 0;
};

void train_by(std::vector<SavedRun>& runs, int64_t size, int64_t updates) {
  if (size == 1) return runs[0].train(updates, nullptr);
  Meeting meeting(size);
  run_processes(meeting, size, [&](ProcessGroup& group) { runs[group.rank()].train(updates, &group); });
}

void expect_same(const SavedRun& found, const SavedRun& expected, double tolerance) {
  ASSERT_EQ(found.tensors().size(), expected.tensors().size());
  for (size_t i = 0; i < expected.tensors().size(); ++i)
    test::expect_close(found.tensors()[i], expected.tensors()[i], tolerance, std::to_string(i));
  ASSERT_EQ(found.stats.size(), expected.stats.size());
  for (size_t i = 0; i < expected.stats.size(); ++i) {
    EXPECT_NEAR(found.stats[i].loss, expected.stats[i].loss, 1e-4 * expected.stats[i].loss);
    EXPECT_EQ(found.stats[i].target_tokens, expected.stats[i].target_tokens);
    EXPECT_FALSE(found.stats[i].skipped || found.stats[i].split);
  }
}

// The test of MPI in tests/system/train/processes.py finds the same bits; here, too, several processes make the updates
// of one, also where micro-batches do not come out even.
TEST_F(DeviceProcessGroupTest, UpdatesAreThoseOfOneProcess) {
  for (const auto order : {test::Order::kAtOnce, test::Order::kLate, test::Order::kSeeded}) {
    test::set_usual_order(order, 3);
    std::vector<SavedRun> alone(1);
    train_by(alone, 1, 2);
    for (const int64_t size : {2, 3}) {
      if (size == 3 && order != test::Order::kSeeded) continue;
      SCOPED_TRACE(size);
      std::vector<SavedRun> runs(size);
      train_by(runs, size, 2);
      for (const auto& run : runs) {
        expect_same(run, alone[0], 2e-5);
        expect_same(run, runs[0], 0);
      }
    }
  }
}

TEST_F(DeviceProcessGroupTest, TheHostWaitsOnceForAllBuckets) {
  Meeting meeting(1);
  const auto group = group_of_one(meeting, free_port());
  NamedTensors parameters;
  for (const char* name : {"a", "b", "c"})
    parameters.emplace_back(name, torch::ones({4}, simulated::device()).requires_grad_());
  GradientBuckets buckets(parameters, *group, /*bucket_bytes=*/1);
  buckets.begin_round(1, true);
  (parameters[0].second * 2 + parameters[2].second * 3).sum().backward();
  buckets.end_round();
  std::vector<std::string> waits;
  {
    const test::NoWaits counted;
    buckets.finish();
    waits = counted.found();
  }
  EXPECT_THAT(waits, testing::ElementsAre(HasSubstr("a copy to the host")));
  EXPECT_EQ(parameters[0].second.grad()[0].item<float>(), 2);
  EXPECT_FALSE(parameters[1].second.grad().defined());
  EXPECT_EQ(parameters[2].second.grad()[0].item<float>(), 3);
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
    simulated::finish();  // the communicator holds what it was given until then
    EXPECT_THAT(of[1], IsEmpty());
    ASSERT_EQ(of[0].size(), alone.size());
    for (size_t i = 0; i < alone.size(); ++i) EXPECT_TRUE(of[0][i].equal(alone[i])) << i;
  }
}

TEST_F(DeviceProcessGroupTest, ARunGoesOnWithAnotherNumberOfProcesses) {
  simulated::set_order(simulated::Order::kLate);
  std::vector<SavedRun> alone(1);
  train_by(alone, 1, 5);
  std::vector<SavedRun> runs(3);
  train_by(runs, 2, 2);
  runs[2] = runs[0];  // a checkpoint is read by all
  train_by(runs, 3, 1);
  train_by(runs, 1, 1);
  runs[1] = runs[0];
  train_by(runs, 2, 1);
  expect_same(runs[0], alone[0], 5e-5);
  expect_same(runs[1], runs[0], 0);
}

TEST_F(DeviceProcessGroupTest, ProcessesCountThreads) {
  Meeting meeting(2);
  run_processes(meeting, 2, [](ProcessGroup& group) { EXPECT_GE(default_threads_of(group), 1); });
}

// The failures of tests/system/train/processes.py, each with its line; all at once, for each takes seconds.
TEST_F(DeviceProcessGroupTest, FailuresAreTold) {
  constexpr const char* kResumes = "started again, the run resumes from its last checkpoint";
  using Body = std::function<void(int64_t port, Meeting & alone, Told & told)>;
  const std::vector<std::pair<const char*, Body>> cases = {
      {"silent",
       [&](int64_t port, Meeting& alone, Told& told) {
         PeerBesideGroup beside(alone, port, told);
         beside.peer->fall_silent();
         EXPECT_EQ(told.within(10), std::string("rank 1 has not answered for 1 s (run.process_timeout): it is dead, "
                                                "stopped or cut off; ") +
                                        kResumes);
         beside.peer->say(LifeSign::kDone);
       }},
      {"hangs",
       [&](int64_t port, Meeting& alone, Told& told) {
         PeerBesideGroup beside(alone, port, told);
         beside.peer->turn(LifeSign::kHung);
         EXPECT_EQ(told.within(15),
                   std::string("rank 1 made no progress in an update for 1 s (run.process_timeout); ") + kResumes);
         beside.peer->turn(LifeSign::kDone);
       }},
      {"hangs itself",
       [&](int64_t port, Meeting& alone, Told& told) {
         PeerBesideGroup beside(alone, port, told);
         beside.group->expect_progress(true);
         EXPECT_EQ(
             told.within(10),
             std::string("rank 0 (this one) made no progress in an update for 1 s (run.process_timeout); ") + kResumes);
         beside.group->expect_progress(false);
         beside.peer->turn(LifeSign::kDone);
       }},
      {"takes long where it may",
       [&](int64_t port, Meeting& alone, Told& told) {
         PeerBesideGroup beside(alone, port, told);
         beside.group->expect_progress(true);
         beside.group->wait_for_all();
         beside.group->expect_progress(false);  // a validation
         EXPECT_EQ(told.within(2.5), "");
         beside.peer->turn(LifeSign::kDone);
       }},
      {"the meeting is gone",
       [&](int64_t port, Meeting& alone, Told& told) {
         std::optional<Peer> first(std::in_place, 0, port);
         const auto group = group_beside_a_peer(alone, 1, port, told);
         first.reset();
         EXPECT_EQ(told.within(10), std::string("rank 0, where the processes meet, is dead or cut off; ") + kResumes);
       }},
      {"ends with an error",
       [&](int64_t port, Meeting& alone, Told& told) {
         Told other;
         Meeting other_alone(1);
         std::jthread fails([&] {
           try {
             const auto group = group_beside_a_peer(other_alone, 1, port, other);
             throw Error("of its own");
           } catch (const Error&) {
           }
         });
         const auto group = group_beside_a_peer(alone, 0, port, told);
         EXPECT_EQ(told.within(15), std::string("rank 1 has ended with an error, see its own line; ") + kResumes);
         fails.join();
         EXPECT_EQ(other.within(0), "");
         const Peer done(1, port, LifeSign::kDone);
       }},
  };
  std::vector<std::jthread> threads;
  for (const auto& one : cases)
    threads.emplace_back([&one] {
      SCOPED_TRACE(one.first);
      Meeting alone(1);
      Told told;
      one.second(free_port(), alone, told);
    });
}

/// Fails as NCCL does where two processes have the same GPU.
class FailingCommunicator final : public Communicator {
 public:
  std::unique_ptr<Sum> sum(const torch::Tensor&) override { TORCH_CHECK(false, "duplicate device\nof two"); }
  std::unique_ptr<Sum> broadcast(const torch::Tensor&, int64_t) override { return nullptr; }
};

std::string failure_of(const std::function<void()>& body) {
  try {
    body();
  } catch (const MachineError& error) {
    return error.what();
  }
  return "";
}

TEST_F(DeviceProcessGroupTest, DevicesThatCannotBeConnectedAreAnErrorOfOneLine) {
  const int64_t port = free_port();
  Told told;
  std::optional<Peer> peer;
  std::jthread starts([&] { peer.emplace(1, port); });
  EXPECT_EQ(failure_of([&] {
              make_device_process_group(process_of(0, 2, port), simulated::device(), 60, told.listener(),
                                        [](const auto&) { return std::make_unique<FailingCommunicator>(); });
            }),
            "rank 0: the devices of the 2 processes cannot be connected (each needs one of its own): duplicate device");
  EXPECT_EQ(told.within(0), "");
}

TEST_F(DeviceProcessGroupTest, AMeetingThatIsTakenIsAnErrorOfOneLine) {
  const int64_t port = free_port();
  const Peer other(0, port);  // holds it
  const std::string line = failure_of([&] {
    make_device_process_group(process_of(0, 2, port), simulated::device(), 60, end_with,
                              [](const auto&) { return std::make_unique<FailingCommunicator>(); });
  });
  EXPECT_THAT(line, HasSubstr("(MASTER_ADDR, MASTER_PORT): "));
  EXPECT_EQ(line.find('\n'), line.npos) << line;
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
