// What a device reaches: TFLOP/s of a product of two matrices of n x n, the best of several, by type. The share of this
// that training uses is its utilisation. Usage: device_peak_bench [device] [n = 8192]
#include <ATen/DeviceAccelerator.h>
#include <ATen/ops/mm.h>
#include <ATen/ops/randn.h>
#include <fmt/format.h>
#include <torch/types.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <string>

#include "base/error.h"
#include "nn/device/device.h"

namespace {

void wait(torch::Device device) {
  if (!device.is_cpu()) at::accelerator::synchronizeDevice(device.index());
}

double teraflops(torch::Device device, at::ScalarType type, int64_t n) {
  constexpr int kTimes = 10, kRounds = 5;
  const auto options = torch::TensorOptions(type).device(device);
  const auto a = at::randn({n, n}, options), b = at::randn({n, n}, options);
  auto c = at::mm(a, b);
  wait(device);
  double best = 0;
  for (int round = 0; round < kRounds; ++round) {
    const auto start = std::chrono::steady_clock::now();
    for (int i = 0; i < kTimes; ++i) at::mm_out(c, a, b);
    wait(device);
    const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
    best = std::max(best, 2.0 * static_cast<double>(n * n * n) * kTimes / seconds.count() / 1e12);
  }
  return best;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    const auto device = nmt::resolve_device(argc > 1 ? argv[1] : "auto");
    const int64_t n = argc > 2 ? std::atoll(argv[2]) : 8192;
    const auto can = nmt::capabilities_of(device);
    fmt::print("{{\"device\": \"{}\", \"memory\": {}, \"n\": {}", device.str(), can.memory, n);
    for (const auto& [name, type] :
         {std::pair("bf16", torch::kBFloat16), {"fp16", torch::kFloat16}, {"fp32", torch::kFloat32}})
      fmt::print(", \"{}\": {:.3f}", name, teraflops(device, type, n));
    fmt::print("}}\n");
    return 0;
  } catch (const std::exception& error) {
    fmt::print(stderr, "device_peak_bench: {}\n", error.what());
    return dynamic_cast<const nmt::Error*>(&error) ? 2 : 1;
  }
}
