#include "training/distributed/launched_process.h"

#include <ATen/DeviceAccelerator.h>
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstdint>

#include "base/error.h"
#include "nn/device/device.h"

namespace nmt {
namespace {

using Environment = std::function<const char*(const char*)>;

int64_t number_of(const Environment& environment, const char* name) {
  const char* value = environment(name);
  const std::string text = value ? value : "";
  int64_t number = -1;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size() || number < 0)
    throw Error(fmt::format(
        "{}='{}': a whole number is needed there; start the processes with mpirun, srun or torchrun", name, text));
  return number;
}

int64_t port_of(const std::string& text) {
  int64_t port = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), port);
  if (error != std::errc() || end != text.data() + text.size() || port < 1 || port > UINT16_MAX)
    throw Error(fmt::format("MASTER_PORT='{}': a port is needed there, 1 to {}", text, UINT16_MAX));
  return port;
}

// "node[03-07,9],other" -> node03
std::string first_host(const std::string& list) {
  const auto bracket = list.find('['), comma = list.find(',');
  if (bracket == std::string::npos || comma < bracket) return list.substr(0, comma);
  const auto begin = bracket + 1;
  return list.substr(0, bracket) + list.substr(begin, list.find_first_of("-,]", begin) - begin);
}

// "4(x2),3" -> 4; 0: no number is there.
int64_t most_tasks(const std::string& list) {
  int64_t most = 0;
  for (size_t at = 0; at < list.size(); at = std::min(list.size(), list.find(',', at)) + 1) {
    int64_t tasks = 0;
    std::from_chars(list.data() + at, list.data() + list.size(), tasks);
    most = std::max(most, tasks);
  }
  return most;
}

}  // namespace

LaunchedProcess launched_process(const Environment& environment) {
  LaunchedProcess process;
  const auto take = [&](const char* launcher, const char* rank, const char* size, const char* local_rank) {
    process.launcher = launcher;
    process.rank = number_of(environment, rank);
    process.size = number_of(environment, size);
    process.local_rank = number_of(environment, local_rank);
    if (process.rank >= process.size)
      throw Error(fmt::format("{}={} is not below {}={}: start the processes with mpirun, srun or torchrun", rank,
                              process.rank, size, process.size));
    process.local_size = process.size;
  };
  if (environment("OMPI_COMM_WORLD_SIZE")) {
    take("mpirun", "OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_LOCAL_RANK");
    const char* name = "OMPI_COMM_WORLD_LOCAL_SIZE";
    if (environment(name)) process.local_size = number_of(environment, name);
  } else if (environment("WORLD_SIZE") && environment("RANK")) {
    take("torchrun", "RANK", "WORLD_SIZE", "LOCAL_RANK");
    if (environment("LOCAL_WORLD_SIZE")) process.local_size = number_of(environment, "LOCAL_WORLD_SIZE");
    const char* agent = environment("TORCHELASTIC_USE_AGENT_STORE");
    process.meeting_is_open = agent && std::string(agent) == "True";
  } else if (environment("SLURM_STEP_NUM_TASKS")) {  // only srun's own tasks have it, not the script of sbatch
    take("srun", "SLURM_PROCID", "SLURM_STEP_NUM_TASKS", "SLURM_LOCALID");
    if (const char* tasks = environment("SLURM_STEP_TASKS_PER_NODE"); tasks && most_tasks(tasks) > 0)
      process.local_size = most_tasks(tasks);
    if (const char* nodes = environment("SLURM_STEP_NODELIST")) process.address = first_host(nodes);
    if (environment("SLURM_JOB_ID")) process.port = 20000 + number_of(environment, "SLURM_JOB_ID") % 10000;
  }
  process.local_size = std::clamp<int64_t>(process.local_size, 1, process.size);
  if (const char* address = environment("MASTER_ADDR")) process.address = address;
  // A process by itself meets nobody: a variable that was left over does not matter.
  if (const char* port = environment("MASTER_PORT"); port && *port && process.size > 1) process.port = port_of(port);
  // All on one machine: the launcher need not say where that is.
  if (environment("OMPI_COMM_WORLD_LOCAL_SIZE") && process.address.empty() && process.local_size == process.size)
    process.address = "127.0.0.1";
  return process;
}

torch::Device device_of(const LaunchedProcess& process, const std::string& run_device) {
  if (process.size > 1 && run_device.starts_with("cuda:"))
    throw Error(
        fmt::format("run.device {}: {} processes would share one GPU; use cuda: each takes that of its local rank",
                    run_device, process.size));
  const auto device = resolve_device(run_device);
  if (process.size == 1 || capabilities_of(device).host) return device;
  return device_of(process, run_device, device, at::accelerator::deviceCount());
}

torch::Device device_of(const LaunchedProcess& process, const std::string& run_device, torch::Device found,
                        int64_t count) {
  if (process.size == 1 || count == 1) return found;  // the launcher shows each process its own
  if (process.local_rank >= count)
    throw Error(
        fmt::format("run.device {}: process {} is the {}th of its machine, which has {} GPUs; start at most one a GPU",
                    run_device, process.rank, process.local_rank + 1, count));
  return {found.type(), static_cast<c10::DeviceIndex>(process.local_rank)};
}

}  // namespace nmt
