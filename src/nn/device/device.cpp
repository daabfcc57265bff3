#include "nn/device/device.h"

#include <ATen/Context.h>
#include <ATen/DeviceAccelerator.h>
#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/ops/_has_compatible_shallow_copy_type.h>
#include <c10/core/CachingDeviceAllocator.h>
#include <c10/core/impl/DeviceGuardImplInterface.h>
#include <c10/util/Exception.h>
#include <torch/cuda.h>

#include <charconv>
#include <mutex>
#include <new>
#include <string_view>

#include "base/error.h"
#include "nn/device/cpu_allocator.h"
#include "nn/device/recorded_graph.h"
#include "nn/kernels/x86_level.h"

#ifdef NMT_WITH_CUDA
#include <ATen/cuda/CUDAContext.h>
#endif

namespace nmt {
namespace {

DeviceCapabilities of_cpu() { return {.bfloat16 = kernels::has_bfloat16_tiles() || kernels::has_quick_bfloat16()}; }

bool has_kernel(const char* name, c10::DispatchKey key) {
  const auto operation = c10::Dispatcher::singleton().findSchema({name, ""});
  return operation && operation->hasKernelForDispatchKey(key);
}

// An accelerator that LibTorch was extended by: what it says, and which operations it brought.
DeviceCapabilities of_extension(torch::Device device) {
  const auto types =
      c10::impl::getDeviceGuardImpl(device.type())->getDeviceCapability(device).capability_data.supported_scalar_types;
  const auto key = c10::DispatchKey::PrivateUse1;
  return {.host = false,
          .bfloat16 = types.has_BFloat16 != 0,
          .float16 = types.has_Half != 0,
          .flash_attention = types.has_BFloat16 != 0 && has_kernel("aten::_flash_attention_forward", key),
          .efficient_attention = has_kernel("aten::_efficient_attention_forward", key),
          .recurrent_layers =
              has_kernel("aten::_thnn_fused_gru_cell", key) && has_kernel("aten::_thnn_fused_lstm_cell", key),
          .graphs = records_graphs(device)};
}

}  // namespace

DeviceCapabilities capabilities_of_cuda(int major, int /*minor*/, int64_t memory) {
  return {.host = false,
          .bfloat16 = major >= 8,
          .float16 = major >= 7,
          .flash_attention = major >= 8,
          .efficient_attention = true,
          .recurrent_layers = true,
          .memory = memory};
}

DeviceCapabilities capabilities_of(torch::Device device) {
  if (device.is_cpu()) return of_cpu();
#ifdef NMT_WITH_CUDA
  if (device.is_cuda()) {
    const auto* card = at::cuda::getDeviceProperties(device.index());
    auto can = capabilities_of_cuda(card->major, card->minor, static_cast<int64_t>(card->totalGlobalMem));
    can.recurrent_layers = at::globalContext().hasCuDNN();
    can.graphs = records_graphs(device);
    return can;
  }
#endif
  if (device.type() == torch::kPrivateUse1) return of_extension(device);
  return {.host = false};
}

namespace {

// Null where the allocator of the device does not count.
c10::DeviceAllocator* counting_allocator(torch::Device device) {
  return dynamic_cast<c10::DeviceAllocator*>(c10::GetAllocator(device.type()));
}

c10::DeviceIndex index_of(torch::Device device) { return device.has_index() ? device.index() : 0; }

}  // namespace

torch::Device resolve_device(const std::string& name) {
  if (name == "cpu") return torch::kCPU;
  if (name == "auto") return at::accelerator::deviceCount() > 0 ? torch::Device(*at::getAccelerator(), 0) : torch::kCPU;
  int index = 0;
  if (name.starts_with("cuda:")) {
    const auto* end = name.data() + name.size();
    const auto [at, error] = std::from_chars(name.data() + 5, end, index);
    if (error != std::errc() || at != end || index < 0)
      throw Error("device '" + name + "': use auto, cpu, cuda or cuda:N");
  } else if (name != "cuda") {
    throw Error("device '" + name + "': use auto, cpu, cuda or cuda:N");
  }
  if (!torch::cuda::is_available())
    throw Error("device '" + name + "': no usable GPU (this LibTorch may be built for the CPU only); use --device cpu");
  if (index >= static_cast<int>(torch::cuda::device_count()))
    throw Error("device '" + name + "': this machine has " + std::to_string(torch::cuda::device_count()) +
                " GPU(s), counted from 0");
  return {torch::kCUDA, static_cast<c10::DeviceIndex>(index)};
}

at::ScalarType resolve_precision(TrainingPrecision wanted, const DeviceCapabilities& device) {
  switch (wanted) {
    case TrainingPrecision::kFp32:
      return torch::kFloat32;
    case TrainingPrecision::kBf16:
      return torch::kBFloat16;
    case TrainingPrecision::kFp16:
      if (device.host) throw Error("run.precision fp16: is for GPUs; use bf16 or fp32");
      return torch::kFloat16;
    case TrainingPrecision::kAuto:
      break;
  }
  if (device.bfloat16) return torch::kBFloat16;
  return device.float16 ? torch::kFloat16 : torch::kFloat32;
}

at::ScalarType resolve_precision(TrainingPrecision wanted, torch::Device device) {
  return resolve_precision(wanted, capabilities_of(device));
}

std::string precision_name(at::ScalarType type) {
  return type == torch::kBFloat16 ? "bf16" : type == torch::kFloat16 ? "fp16" : "fp32";
}

at::ScalarType type_of_precision(const std::string& name) {
  return name == "bf16" ? torch::kBFloat16 : name == "fp16" ? torch::kFloat16 : torch::kFloat32;
}

void set_seed(torch::Device device, uint64_t seed) {
  auto generator = at::globalContext().defaultGenerator(device);
  const std::lock_guard lock(generator.mutex());
  generator.set_current_seed(seed);
}

int64_t peak_tensor_bytes(torch::Device device) {
  if (device.is_cpu()) return most_tensor_bytes_in_use();
  auto* allocator = counting_allocator(device);
  return allocator ? allocator->getDeviceStats(index_of(device)).allocated_bytes[0].peak : 0;  // [0]: of all kinds
}

void reset_peak_tensor_bytes(torch::Device device) {
  if (device.is_cpu()) return measure_tensors_anew();
  if (auto* allocator = counting_allocator(device)) allocator->resetPeakStats(index_of(device));
}

torch::Tensor copy_to_device(const torch::Tensor& x, torch::Device device) {
  if (x.device() == device) return x;
  return x.contiguous().pin_memory().to(device, /*non_blocking=*/true);
}

void move_module(torch::nn::Module& module, torch::Device device) {
  const torch::NoGradGuard no_grad;
  for (const auto& tensors : {module.parameters(), module.buffers()})
    for (auto tensor : tensors) {
      const auto there = tensor.detach().to(device);
      if (at::_has_compatible_shallow_copy_type(tensor, there))
        tensor.set_data(there);
      else
        tensor.unsafeGetTensorImpl()->shallow_copy_from(there.getIntrusivePtr());
    }
}

bool is_out_of_memory(const std::exception& error) {
  if (dynamic_cast<const std::bad_alloc*>(&error) || dynamic_cast<const c10::OutOfMemoryError*>(&error)) return true;
  const std::string_view what = error.what();
  // oneDNN's, of which LibTorch has no header. What it cannot compute at all fails at "a primitive descriptor".
  if (what == "could not create a primitive" || what == "could not execute a primitive" ||
      what == "could not create a memory object")
    return true;
  return what.find("can't allocate memory") != what.npos || what.find("out of memory") != what.npos;
}

}  // namespace nmt
