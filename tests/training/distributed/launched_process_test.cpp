#include "training/distributed/launched_process.h"

#include <gtest/gtest.h>

#include <map>

#include "base/error.h"
#include "support.h"
#include "training/distributed/communicators.h"
#include "training/distributed/make_process_group.h"
#include "training/distributed/process_group.h"

namespace nmt::launched_process_test {
namespace {

using test::message_of;
using Variables = std::map<std::string, std::string>;

LaunchedProcess launched(const Variables& variables) {
  return launched_process([&](const char* name) -> const char* {
    const auto found = variables.find(name);
    return found == variables.end() ? nullptr : found->second.c_str();
  });
}

void expect_place(const LaunchedProcess& process, int64_t rank, int64_t size, int64_t local_rank,
                  const char* launcher) {
  EXPECT_EQ(process.rank, rank) << launcher;
  EXPECT_EQ(process.size, size) << launcher;
  EXPECT_EQ(process.local_rank, local_rank) << launcher;
  EXPECT_EQ(process.launcher, launcher);
}

const Variables kMpirun = {{"OMPI_COMM_WORLD_RANK", "3"},
                           {"OMPI_COMM_WORLD_SIZE", "4"},
                           {"OMPI_COMM_WORLD_LOCAL_RANK", "1"},
                           {"OMPI_COMM_WORLD_LOCAL_SIZE", "2"}};
const Variables kTorchrun = {{"RANK", "5"},           {"WORLD_SIZE", "8"},
                             {"LOCAL_RANK", "1"},     {"MASTER_ADDR", "head"},
                             {"MASTER_PORT", "1234"}, {"TORCHELASTIC_USE_AGENT_STORE", "True"}};
const Variables kSrun = {{"SLURM_PROCID", "9"},
                         {"SLURM_STEP_NUM_TASKS", "16"},
                         {"SLURM_LOCALID", "1"},
                         {"SLURM_JOB_ID", "1230042"},
                         {"SLURM_STEP_NODELIST", "gpu[03-07,9]"}};

TEST(LaunchedProcess, IsAloneWithoutALauncher) {
  expect_place(launched({}), 0, 1, 0, "");
  // The script that sbatch runs is no task of srun.
  expect_place(launched({{"SLURM_PROCID", "0"}, {"SLURM_NTASKS", "16"}, {"SLURM_LOCALID", "0"}}), 0, 1, 0, "");
}

// They share its memory.
TEST(LaunchedProcess, KnowsHowManyAreOnOneMachine) {
  EXPECT_EQ(launched({}).local_size, 1);
  EXPECT_EQ(launched(kMpirun).local_size, 2);
  EXPECT_EQ(launched(kTorchrun).local_size, 8) << "all, where it is not said";
  const auto with = [](Variables variables, const char* name, const char* value) {
    variables[name] = value;
    return launched(variables).local_size;
  };
  EXPECT_EQ(with(kTorchrun, "LOCAL_WORLD_SIZE", "4"), 4);
  EXPECT_EQ(with(kSrun, "SLURM_STEP_TASKS_PER_NODE", "3(x2),4,2(x3)"), 4);
  EXPECT_EQ(with(kSrun, "SLURM_STEP_TASKS_PER_NODE", "16"), 16);
  EXPECT_EQ(with(kSrun, "SLURM_STEP_TASKS_PER_NODE", "?"), 16);
}

TEST(LaunchedProcess, ReadsTheVariablesOfEachLauncher) {
  expect_place(launched(kMpirun), 3, 4, 1, "mpirun");
  EXPECT_EQ(launched(kMpirun).address, "") << "two machines: it does not say where rank 0 is";
  auto one_machine = kMpirun;
  one_machine["OMPI_COMM_WORLD_LOCAL_SIZE"] = "4";
  EXPECT_EQ(launched(one_machine).address, "127.0.0.1");
  one_machine["MASTER_ADDR"] = "head";
  EXPECT_EQ(launched(one_machine).address, "head");

  const auto torchrun = launched(kTorchrun);
  expect_place(torchrun, 5, 8, 1, "torchrun");
  EXPECT_EQ(torchrun.address, "head");
  EXPECT_EQ(torchrun.port, 1234);
  EXPECT_TRUE(torchrun.meeting_is_open);

  const auto srun = launched(kSrun);
  expect_place(srun, 9, 16, 1, "srun");
  EXPECT_EQ(srun.address, "gpu03");
  EXPECT_EQ(srun.port, 20042);
  EXPECT_FALSE(srun.meeting_is_open);
  for (const auto& [nodes, first] : Variables{{"gpu1", "gpu1"}, {"a,b[1-2]", "a"}, {"n[7]", "n7"}, {"n[1,3]", "n1"}}) {
    auto variables = kSrun;
    variables["SLURM_STEP_NODELIST"] = nodes;
    EXPECT_EQ(launched(variables).address, first) << nodes;
  }
}

TEST(LaunchedProcess, MpirunUnderSlurmIsMpirun) {
  auto both = kSrun;
  both.insert(kMpirun.begin(), kMpirun.end());
  expect_place(launched(both), 3, 4, 1, "mpirun");
}

TEST(LaunchedProcess, RefusesWhatIsNoPlace) {
  auto variables = kMpirun;
  variables["OMPI_COMM_WORLD_RANK"] = "4";
  EXPECT_EQ(message_of<Error>([&] { launched(variables); }),
            "OMPI_COMM_WORLD_RANK=4 is not below OMPI_COMM_WORLD_SIZE=4: start the processes with mpirun, srun or "
            "torchrun");
  variables["OMPI_COMM_WORLD_RANK"] = "x";
  EXPECT_EQ(
      message_of<Error>([&] { launched(variables); }),
      "OMPI_COMM_WORLD_RANK='x': a whole number is needed there; start the processes with mpirun, srun or torchrun");
  variables.erase("OMPI_COMM_WORLD_RANK");
  EXPECT_NE(message_of<Error>([&] { launched(variables); }), "");
}

TEST(LaunchedProcess, TakesThePortOfSeveralProcessesAlone) {
  for (const char* port : {"", "x", "0", "-1", "65536"}) {
    EXPECT_EQ(launched({{"MASTER_PORT", port}}).size, 1) << "a variable that was left over";
    auto variables = kTorchrun;
    variables["MASTER_PORT"] = port;
    if (*port)
      EXPECT_EQ(message_of<Error>([&] { launched(variables); }),
                "MASTER_PORT='" + std::string(port) + "': a port is needed there, 1 to 65535");
    else
      EXPECT_EQ(launched(variables).port, LaunchedProcess{}.port);
  }
}

TEST(LaunchedProcess, HasADeviceOfItsOwn) {
  EXPECT_EQ(device_of({.size = 4}, "cpu"), torch::Device(torch::kCPU));
  EXPECT_EQ(message_of<Error>([] { device_of({.size = 4}, "cuda:1"); }),
            "run.device cuda:1: 4 processes would share one GPU; use cuda: each takes that of its local rank");
  // Devices of any kind of accelerator, whatever its name.
  for (const auto type : {torch::kCUDA, torch::kPrivateUse1}) {
    const torch::Device first(type, 0);
    const LaunchedProcess process{.rank = 5, .size = 8, .local_rank = 1};
    EXPECT_EQ(device_of(process, "auto", first, 4), torch::Device(type, 1));
    EXPECT_EQ(device_of(process, "auto", first, 1), first) << "the launcher shows each process its own";
    EXPECT_EQ(device_of({.local_rank = 1}, "auto", first, 4), first) << "alone";
    EXPECT_EQ(message_of<Error>([&] { device_of({.rank = 7, .size = 8, .local_rank = 3}, "auto", first, 2); }),
              "run.device auto: process 7 is the 4th of its machine, which has 2 GPUs; start at most one a GPU");
  }
}

TEST(MakeProcessGroup, IsASingleProcessAlone) {
  const auto group = make_process_group({}, torch::kCPU, {}, {});
  EXPECT_EQ(group->size(), 1);
  EXPECT_TRUE(group->leads());
  EXPECT_EQ(group->share("as it is: \xc3\xa9"), "as it is: \xc3\xa9");
  EXPECT_GE(default_threads_of(*group), 1);
}

TEST(MakeProcessGroup, RefusesMoreProcessesThanBatches) {
  Config config;
  config.training.accumulate = 3;
  EXPECT_EQ(message_of<Error>([&] { make_process_group({.launcher = "mpirun", .size = 4}, torch::kCPU, config, {}); }),
            "training.accumulate 3: 4 processes need at least so many batches in one update (it counts those of all "
            "processes); set training.accumulate to 4 or a multiple of it");
}

// What is no host has no MPI: it needs a communicator of its kind.
TEST(MakeProcessGroup, RefusesDevicesThatCannotCommunicate) {
  Config config;
  config.training.accumulate = 2;
  const auto make = [&](const LaunchedProcess& process) {
    return message_of<Error>([&] { make_process_group(process, torch::Device("meta"), config, {}); });
  };
  EXPECT_EQ(make({.launcher = "mpirun", .size = 2}),
            "mpirun started 2 processes on devices of type meta, but this program has nothing that sums over them: for "
            "GPUs it has to be built with a LibTorch for CUDA whose nccl.h CMake finds");
  set_communicator(torch::kMeta, [](const LaunchedProcess&, torch::Device, const c10::intrusive_ptr<c10d::Store>&) {
    return std::unique_ptr<Communicator>();
  });
  EXPECT_EQ(make({.launcher = "mpirun", .size = 2}),
            "mpirun started 2 processes on several machines: set MASTER_ADDR to the name of that of rank 0");
  set_communicator(torch::kMeta, nullptr);
}

}  // namespace
}  // namespace nmt::launched_process_test
