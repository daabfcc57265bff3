#include "nn/device/recorded_graph.h"

#include <map>

#include "base/error.h"
#include "base/process/log.h"
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
  // Recordings need a stream of their own, and share memory where it is the same one.
  explicit CudaGraphRecorder(torch::Device device)
      : device_(device), aside_(c10::cuda::getStreamFromPool(/*isHighPriority=*/false, device.index())) {}

  // What the recording waits for and what waits for it stays in order.
  void record(int64_t number, const std::function<void()>& work) override {
    const c10::cuda::CUDAGuard on_device(device_);
    const auto present = c10::cuda::getCurrentCUDAStream();
    at::cuda::CUDAEvent before, after;
    before.record(present);
    before.block(aside_);
    {
      const c10::cuda::CUDAStreamGuard guard(aside_);
      auto& graph = graphs_[number];
      graph.capture_begin(pool_, cudaStreamCaptureModeThreadLocal);  // other threads continue as they like
      try {
        work();
        graph.capture_end();
      } catch (...) {
        end_quietly(graph);
        graphs_.erase(number);
        throw;
      }
      after.record(aside_);
    }
    after.block(present);
  }

  void replay(int64_t number) override {
    const c10::cuda::CUDAGuard on_device(device_);
    graphs_.at(number).replay();
  }

 private:
  // The recording is of no use, and what ended it is what the caller has to hear of.
  static void end_quietly(at::cuda::CUDAGraph& graph) {
    try {
      graph.capture_end();
    } catch (const std::exception&) {
      graph.reset();
    }
  }

  torch::Device device_;
  c10::cuda::CUDAStream aside_;
  at::cuda::MempoolId_t pool_ = at::cuda::graph_pool_handle();
  std::map<int64_t, at::cuda::CUDAGraph> graphs_;
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

void RecordedGraph::run(const std::function<void()>& work, int64_t number) {
  if (recorded_.contains(number)) return recorder_->replay(number);
  work();  // libraries choose kernels and reserve memory at the first run, which a recording forbids
  const auto make = recorders().of(device_.type());
  if (!make || is_refused_) return;
  try {
    if (!recorder_) recorder_ = make(device_);
    recorder_->record(number, work);
    recorded_.insert(number);
  } catch (const std::exception& error) {
    is_refused_ = true;
    make_logger("device")->warn("{}: kernels are launched one by one, which is slower: {}", device_.str(),
                                first_line(error));
  }
}

}  // namespace nmt
