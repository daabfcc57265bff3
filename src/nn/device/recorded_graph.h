#pragma once

#include <torch/types.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <set>

namespace nmt {

/// Records work that is launched on a device, each under a number of its own, and launches it again as a whole. All
/// recordings share the memory of what is made in them.
class GraphRecorder {
 public:
  virtual ~GraphRecorder() = default;
  /// Records what `work` launches, which does not run. Where it throws, there is no recording, and the device continues
  /// as before.
  virtual void record(int64_t number, const std::function<void()>& work) = 0;
  /// Launches what was recorded under this number.
  virtual void replay(int64_t number) = 0;
};
using MakeGraphRecorder = std::function<std::unique_ptr<GraphRecorder>(torch::Device)>;

/// How devices of a type record from now on; null: not at all. CUDA devices have CUDA graphs without this.
void set_graph_recorder(c10::DeviceType type, MakeGraphRecorder make);
bool records_graphs(torch::Device device);

/// Work that a GPU records after its first run and replays from then on (CUDA graphs): one launch for all its kernels.
/// It must touch the same memory each time, leave its results in memory that was there before, and ask the host
/// nothing. On other devices, and where it cannot be recorded, which the log says, it runs as it is.
class RecordedGraph {
 public:
  explicit RecordedGraph(torch::Device device);
  ~RecordedGraph();
  RecordedGraph(const RecordedGraph&) = delete;
  RecordedGraph& operator=(const RecordedGraph&) = delete;

  /// Runs `work`, the same at each call with this number, once. Works of several numbers, such as those for other
  /// sizes, share the memory of what they make on their way.
  void run(const std::function<void()>& work, int64_t number = 0);

 private:
  torch::Device device_;
  std::unique_ptr<GraphRecorder> recorder_;  // null before the first run
  std::set<int64_t> recorded_;
  bool is_refused_ = false;
};

}  // namespace nmt
