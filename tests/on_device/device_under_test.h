#pragma once

#include <c10/core/CachingDeviceAllocator.h>
#include <gtest/gtest.h>
#include <torch/cuda.h>
#include <torch/types.h>

#include <cstdlib>
#include <optional>
#include <string>
#include <vector>

#include "nn/device/device.h"

#ifndef NMT_TESTS_OF_CUDA
#include "simulated_device/simulated_device.h"
#elif defined(NMT_WITH_CUDA)
#include <c10/cuda/CUDAFunctions.h>
#endif

/// The tests of this folder are compiled twice: test_on_device runs them on the simulated device, test_gpu (label gpu)
/// on a CUDA device, where there is one.
namespace nmt::test {

#ifdef NMT_TESTS_OF_CUDA
inline constexpr bool kSimulated = false;
#else
inline constexpr bool kSimulated = true;
#endif

inline torch::Device device_under_test() {
#ifdef NMT_TESTS_OF_CUDA
  return {torch::kCUDA, 0};
#else
  return simulated::device();
#endif
}

/// When work runs, as far as the tests can say so.
enum class Order { kAtOnce, kLate, kSeeded };
inline void set_order(Order order, uint64_t seed = 0) {
#ifndef NMT_TESTS_OF_CUDA
  simulated::set_order(static_cast<simulated::Order>(order), seed);
#else
  (void)order, (void)seed;
#endif
}

/// The usual order, or, where NMT_TEST_SEED gives a seed, a random one of it: scripts/inject_mistakes.py looks for each
/// mistake in several.
inline void set_usual_order(Order usual, uint64_t seed = 0) {
  const char* given = std::getenv("NMT_TEST_SEED");
  given ? set_order(Order::kSeeded, std::strtoull(given, nullptr, 10)) : set_order(usual, seed);
}

/// While it exists, the waits of the host are seen: counted on the simulated device; on CUDA the first one throws.
class NoWaits {
 public:
  NoWaits() {
#ifndef NMT_TESTS_OF_CUDA
    simulated::reset_counts();
#elif defined(NMT_WITH_CUDA)
    c10::cuda::warning_state().set_sync_debug_mode(c10::cuda::SyncDebugMode::L_ERROR);
#endif
  }
  ~NoWaits() {
#if defined(NMT_TESTS_OF_CUDA) && defined(NMT_WITH_CUDA)
    c10::cuda::warning_state().set_sync_debug_mode(c10::cuda::SyncDebugMode::L_DISABLED);
#endif
  }
  NoWaits(const NoWaits&) = delete;
  std::vector<std::string> found() const {
#ifndef NMT_TESTS_OF_CUDA
    return simulated::counts().synchronisations;
#else
    return {};
#endif
  }
  int64_t late() const {
#ifndef NMT_TESTS_OF_CUDA
    return simulated::counts().late;
#else
    return 0;
#endif
  }
};

/// Memory of the device.
struct DeviceMemory {
  static int64_t in_use() {
    return c10::getDeviceAllocator(device_under_test().type())->getDeviceStats(0).allocated_bytes[0].current;
  }
  static int64_t peak() { return peak_tensor_bytes(device_under_test()); }
  static void reset_peak() { reset_peak_tensor_bytes(device_under_test()); }
};

/// Skips without a device; leaves it as it was.
class DeviceTest : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!kSimulated && !torch::cuda::is_available()) GTEST_SKIP() << "no GPU";
  }
  void TearDown() override {
#ifndef NMT_TESTS_OF_CUDA
    simulated::finish();
    simulated::set_order(simulated::Order::kAtOnce);
    simulated::set_memory_limit(std::nullopt);
    simulated::fail_allocation_after(-1);
#endif
  }
  torch::Device device_ = device_under_test();
};

}  // namespace nmt::test
