#pragma once

#include <torch/types.h>

#include <functional>
#include <memory>

namespace nmt {

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
  struct Recording;
  torch::Device device_;
  std::unique_ptr<Recording> recording_;  // null before the first run
};

}  // namespace nmt
