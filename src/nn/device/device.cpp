#include "nn/device/device.h"

#include <ATen/Context.h>
#include <ATen/DeviceAccelerator.h>
#include <c10/core/CachingDeviceAllocator.h>
#include <torch/cuda.h>

#include <charconv>
#include <mutex>

#include "base/error.h"
#include "nn/device/cpu_allocator.h"
#include "nn/device/device_capabilities.h"

namespace nmt {
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

}  // namespace nmt
