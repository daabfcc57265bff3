#pragma once

#include <torch/types.h>

#include <functional>
#include <memory>

namespace nmt {

/// Records the work that is launched on a device, and launches it again as a whole.
class GraphRecorder {
 public:
  virtual ~GraphRecorder() = default;
  /// Records what `work` launches, which does not run. Where it throws, there is no recording, and the device continues
  /// as before.
  virtual void record(const std::function<void()>& work) = 0;
  /// Launches what was recorded.
  virtual void replay() = 0;
};
using MakeGraphRecorder = std::function<std::unique_ptr<GraphRecorder>(torch::Device)>;

/// How devices of a type record from now on; null: not at all. CUDA devices have CUDA graphs without this.
void set_graph_recorder(c10::DeviceType type, MakeGraphRecorder make);
bool records_graphs(torch::Device device);

/// Work that a GPU records after its first run and replays from then on (CUDA graphs): one launch for all its kernels.
/// It must touch the same memory each time, make its results there, and ask the host nothing. On other devices it runs
/// as it is.
class RecordedGraph {
 public:
  explicit RecordedGraph(torch::Device device);
  ~RecordedGraph();
  RecordedGraph(const RecordedGraph&) = delete;
  RecordedGraph& operator=(const RecordedGraph&) = delete;

  /// Runs `work`, the same at each call, once.
  void run(const std::function<void()>& work);

 private:
  torch::Device device_;
  std::unique_ptr<GraphRecorder> recorder_;  // null before the first run
};

}  // namespace nmt
