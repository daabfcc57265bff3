#include "nn/device/device.h"

#include <torch/cuda.h>

#include <charconv>

#include "base/error.h"

namespace nmt {

torch::Device resolve_device(const std::string& name) {
  if (name == "cpu") return torch::kCPU;
  if (name == "auto") return torch::cuda::is_available() ? torch::Device(torch::kCUDA, 0) : torch::Device(torch::kCPU);
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

bool multiplies_bfloat16(torch::Device device) {
  if (device.is_cuda()) return true;
#ifdef __x86_64__
  return __builtin_cpu_supports("avx512bf16");
#else
  return false;
#endif
}

at::ScalarType resolve_precision(TrainingPrecision wanted, torch::Device device) {
  const bool bf16 =
      wanted == TrainingPrecision::kAuto ? multiplies_bfloat16(device) : wanted == TrainingPrecision::kBf16;
  return bf16 ? torch::kBFloat16 : torch::kFloat32;
}

std::string precision_name(at::ScalarType type) { return type == torch::kBFloat16 ? "bf16" : "fp32"; }

torch::Tensor copy_to_device(const torch::Tensor& x, torch::Device device) {
  return device.is_cuda() ? x.pin_memory().to(device, /*non_blocking=*/true) : x.to(device);
}

}  // namespace nmt
