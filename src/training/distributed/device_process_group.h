#pragma once

#include <torch/types.h>

#include <functional>
#include <memory>

#include "training/distributed/launched_process.h"
#include "training/distributed/process_group.h"

namespace c10d {
class Store;
}

namespace nmt {

/// What a library of collective operations gives the processes of a run, one device each.
class Communicator {
 public:
  class Sum {
   public:
    virtual ~Sum() = default;
    /// What the present stream is given from now on comes after the sum or broadcast; the host does not wait.
    virtual void wait() = 0;
  };
  virtual ~Communicator() = default;
  /// Replaces `values`, of a device, by their sum over all processes, after what the present stream has been given. The
  /// processes call it in the same order.
  virtual std::unique_ptr<Sum> sum(const torch::Tensor& values) = 0;
  /// Replaces `values` by those of process `owner`, in the same way.
  virtual std::unique_ptr<Sum> broadcast(const torch::Tensor& values, int64_t owner) = 0;
};
/// store: where the processes leave each other what they need to connect.
using MakeCommunicator = std::function<std::unique_ptr<Communicator>(const c10::intrusive_ptr<c10d::Store>& store)>;
/// The same for devices of one type.
using MakeDeviceCommunicator = std::function<std::unique_ptr<Communicator>(
    const LaunchedProcess& process, torch::Device device, const c10::intrusive_ptr<c10d::Store>& store)>;

/// Processes on devices, one each. They meet at process.address:port and tell each other there that they live. Totals
/// are summed in the communicator's order. Throws MachineError where the processes do not meet. timeout: seconds, see
/// PeerWatch.
std::unique_ptr<ProcessGroup> make_device_process_group(const LaunchedProcess& process, torch::Device device,
                                                        int64_t timeout, OnLost on_lost,
                                                        const MakeCommunicator& make_communicator);

}  // namespace nmt
