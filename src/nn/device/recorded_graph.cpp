#include "nn/device/recorded_graph.h"

#ifdef NMT_WITH_CUDA
#include <ATen/cuda/CUDAEvent.h>
#include <ATen/cuda/CUDAGraph.h>
#include <c10/cuda/CUDAGuard.h>
#include <c10/cuda/CUDAStream.h>
#endif

namespace nmt {

#ifdef NMT_WITH_CUDA

struct RecordedGraph::Recording {
  at::cuda::CUDAGraph graph;
};

namespace {

// Recording needs a stream of its own; what it waits for and what waits for it stays in order.
void record(at::cuda::CUDAGraph& graph, const std::function<void()>& work) {
  const auto present = c10::cuda::getCurrentCUDAStream();
  const auto aside = c10::cuda::getStreamFromPool();
  at::cuda::CUDAEvent before, after;
  before.record(present);
  before.block(aside);
  {
    const c10::cuda::CUDAStreamGuard guard(aside);
    graph.capture_begin({0, 0}, cudaStreamCaptureModeThreadLocal);  // other threads go on as they like
    try {
      work();
    } catch (...) {
      graph.capture_end();
      throw;
    }
    graph.capture_end();
    after.record(aside);
  }
  after.block(present);
}

}  // namespace

void RecordedGraph::run(const std::function<void()>& work) {
  if (!device_.is_cuda()) return work();
  const c10::cuda::CUDAGuard guard(device_);
  if (recording_) return recording_->graph.replay();
  work();  // libraries choose kernels and reserve memory at the first run, which a recording forbids
  auto recording = std::make_unique<Recording>();
  record(recording->graph, work);
  recording_ = std::move(recording);
}

#else

struct RecordedGraph::Recording {};

void RecordedGraph::run(const std::function<void()>& work) { work(); }

#endif

RecordedGraph::RecordedGraph(torch::Device device) : device_(device) {}
RecordedGraph::~RecordedGraph() = default;

}  // namespace nmt
