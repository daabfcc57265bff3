#include "nn/device/recorded_graph.h"

#include "nn/device/by_device_type.h"

#ifdef NMT_WITH_CUDA
#include <ATen/cuda/CUDAEvent.h>
#include <ATen/cuda/CUDAGraph.h>
#include <c10/cuda/CUDAGuard.h>
#include <c10/cuda/CUDAStream.h>
#endif

namespace nmt {
namespace {

#ifdef NMT_WITH_CUDA

class CudaGraphRecorder final : public GraphRecorder {
 public:
  explicit CudaGraphRecorder(torch::Device device) : device_(device) {}

  // Recording needs a stream of its own; what it waits for and what waits for it stays in order.
  void record(const std::function<void()>& work) override {
    const c10::cuda::CUDAGuard on_device(device_);
    const auto present = c10::cuda::getCurrentCUDAStream();
    const auto aside = c10::cuda::getStreamFromPool();
    at::cuda::CUDAEvent before, after;
    before.record(present);
    before.block(aside);
    {
      const c10::cuda::CUDAStreamGuard guard(aside);
      graph_.capture_begin({0, 0}, cudaStreamCaptureModeThreadLocal);  // other threads continue as they like
      try {
        work();
      } catch (...) {
        end_quietly();
        throw;
      }
      graph_.capture_end();
      after.record(aside);
    }
    after.block(present);
  }

  void replay() override {
    const c10::cuda::CUDAGuard on_device(device_);
    graph_.replay();
  }

 private:
  // The recording is of no use, and what ended it is what the caller has to hear of.
  void end_quietly() {
    try {
      graph_.capture_end();
    } catch (const std::exception&) {
      graph_.reset();
    }
  }

  torch::Device device_;
  at::cuda::CUDAGraph graph_;
};

#endif

ByDeviceType<MakeGraphRecorder>& recorders() {
  static ByDeviceType<MakeGraphRecorder> recorders({
#ifdef NMT_WITH_CUDA
      {torch::kCUDA, [](torch::Device device) { return std::make_unique<CudaGraphRecorder>(device); }},
#endif
  });
  return recorders;
}

}  // namespace

void set_graph_recorder(c10::DeviceType type, MakeGraphRecorder make) { recorders().set(type, std::move(make)); }

bool records_graphs(torch::Device device) { return recorders().of(device.type()) != nullptr; }

RecordedGraph::RecordedGraph(torch::Device device) : device_(device) {}
RecordedGraph::~RecordedGraph() = default;

void RecordedGraph::run(const std::function<void()>& work) {
  if (recorder_) return recorder_->replay();
  work();  // libraries choose kernels and reserve memory at the first run, which a recording forbids
  const auto make = recorders().of(device_.type());
  if (!make) return;
  auto recorder = make(device_);
  recorder->record(work);
  recorder_ = std::move(recorder);
}

}  // namespace nmt
