// The kernels that the program holds, and how they are launched, with a driver that writes down what it is asked for.
// On a card one of them runs.
#include "nn/device/device_kernels.h"

#include <ATen/ops/zeros.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <torch/cuda.h>

#include <algorithm>
#include <cstring>
#include <set>
#include <stdexcept>

#include "base/error.h"
#ifdef NMT_WITH_CUDA
#include <ATen/cuda/CUDAContext.h>
#endif

namespace nmt::device_kernels_test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::ThrowsMessage;
using Type = CompiledKernel::Type;

const CompiledKernel& kernel_of(const std::string& name, int capability) {
  for (const auto& kernel : compiled_kernels())
    if (kernel.name == name && kernel.capability == capability) return kernel;
  throw std::out_of_range(name);
}

TEST(CompiledKernels, HopperHasAllThatOlderCardsHave) {
  std::set<std::string> old_cards, hopper;
  for (const auto& kernel : compiled_kernels()) {
    EXPECT_TRUE((kernel.capability == 80 ? old_cards : hopper).insert(kernel.name).second) << kernel.name;
    EXPECT_THAT(kernel.ptx, HasSubstr(kernel.capability == 80 ? ".target sm_80\n" : ".target sm_90a\n")) << kernel.name;
    EXPECT_THAT(kernel.ptx, HasSubstr(".visible .entry " + kernel.entry + "(")) << kernel.name;
  }
  EXPECT_TRUE(std::includes(hopper.begin(), hopper.end(), old_cards.begin(), old_cards.end()));
  EXPECT_TRUE(old_cards.contains("attention_backward_64_64"));
}

TEST(CompiledKernels, AKernelHasTheParametersOfItsSource) {
  const auto& kernel = kernel_of("sum_parts", 80);
  ASSERT_EQ(kernel.parameters.size(), 3);
  EXPECT_EQ(kernel.parameters[2].name, "places");
  EXPECT_EQ(kernel.parameters[2].type, Type::kPointer);
  EXPECT_EQ(kernel.warps, 4);
  EXPECT_THAT(kernel.constants, ElementsAre(std::pair<const std::string, int>("BLOCK", 64)));
}

// PTX numbers the parameters of an entry; two of Triton's stand behind ours, and each has the size that the launch
// reads.
TEST(CompiledKernels, TheCodeTakesTheParametersOfTheTableAndTwoMore) {
  for (const auto& kernel : compiled_kernels()) {
    size_t at = 0, count = 0;
    while ((at = kernel.ptx.find(".param .", at)) != std::string::npos) {
      const auto type = kernel.ptx.substr(at + 8, 3);
      const bool is_pointer = count >= kernel.parameters.size() || kernel.parameters[count].type == Type::kPointer;
      EXPECT_EQ(type, is_pointer                                        ? "u64"
                      : kernel.parameters[count].type == Type::kFloat32 ? "f32"
                                                                        : "u32")
          << kernel.name << ", parameter " << count;
      ++count;
      ++at;
    }
    EXPECT_EQ(count, kernel.parameters.size() + 2) << kernel.name;
  }
}

// What the driver was asked for.
std::vector<std::string> said;
int refusal = 0;

CudaDriver fake_driver() {
  said.clear();
  refusal = 0;
  return {.module_load_data =
              [](void** module, const void* image) {
                said.push_back(std::string("load ") +
                               (std::strstr(static_cast<const char*>(image), "sm_90a") ? "90" : "80"));
                *module = &said;
                return refusal;
              },
          .module_get_function =
              [](void** function, void* module, const char* name) {
                said.push_back(std::string("find ") + name);
                *function = module;
                return 0;
              },
          .func_set_attribute =
              [](void*, int attribute, int value) {
                said.push_back("attribute " + std::to_string(attribute) + (value > (48 << 10) ? " more" : " less"));
                return 0;
              },
          .launch_kernel =
              [](void*, unsigned x, unsigned y, unsigned z, unsigned threads, unsigned, unsigned, unsigned,
                 void* stream, void** parameters, void**) {
                said.push_back("launch " + std::to_string(x) + " " + std::to_string(y) + " " + std::to_string(z) +
                               " of " + std::to_string(threads) + (stream ? " in a stream" : ""));
                // relu_dropout: h, rows, width, p, key, site, and two of Triton's.
                said.push_back("rows " + std::to_string(*static_cast<int32_t*>(parameters[1])) + " site " +
                               std::to_string(*static_cast<int32_t*>(parameters[5])) + " p " +
                               (*static_cast<float*>(parameters[3]) == 0.25f ? "0.25" : "wrong") +
                               (*static_cast<void**>(parameters[7]) ? " scratch" : ""));
                return 0;
              },
          .get_error_string =
              [](int error, const char** text) {
                *text = "no memory";
                return error == 2 ? 0 : 1;
              }};
}

alignas(16) char memory[32];

std::vector<KernelArgument> relu_arguments() { return {memory, 5, 16, 0.25f, static_cast<const void*>(memory + 8), 7}; }

TEST(DeviceKernels, AKernelIsLoadedOnceAndLaunchedWithItsArguments) {
  DeviceKernels kernels(fake_driver(), torch::kCPU, 89);
  kernels.launch("relu_dropout", {3, 2, 1}, relu_arguments());
  kernels.launch("relu_dropout", {1, 1, 1}, relu_arguments());
  EXPECT_THAT(said, ElementsAre("load 80", "find relu_dropout", "launch 3 2 1 of 128", "rows 5 site 7 p 0.25",
                                "launch 1 1 1 of 128", "rows 5 site 7 p 0.25"));
}

TEST(DeviceKernels, OnlyHopperGetsItsOwnCode) {
  for (const auto& [capability, code] :
       {std::pair(80, "load 80"), {90, "load 90"}, {100, "load 80"}, {120, "load 80"}}) {
    DeviceKernels kernels(fake_driver(), torch::kCPU, capability);
    kernels.launch("relu_dropout", {1, 1, 1}, relu_arguments());
    EXPECT_EQ(said.front(), code) << capability;
  }
  // Code for 8.0 would spill registers.
  EXPECT_TRUE(DeviceKernels(fake_driver(), torch::kCPU, 90).find("attention_backward_64_128"));
  EXPECT_FALSE(DeviceKernels(fake_driver(), torch::kCPU, 80).find("attention_backward_64_128"));
  EXPECT_THAT([] { DeviceKernels(fake_driver(), torch::kCPU, 75); },
              ThrowsMessage<Error>("cpu: compute capability 7.5; the kernels need 8.0 or newer"));
}

TEST(DeviceKernels, ArgumentsThatAreNotItsParametersAreRefused) {
  DeviceKernels kernels(fake_driver(), torch::kCPU, 80);
  const auto launch = [&](const std::string& name, const std::vector<KernelArgument>& arguments) {
    kernels.launch(name, {1, 1, 1}, arguments);
  };
  EXPECT_THAT([&] { launch("attention", {}); }, ThrowsMessage<std::invalid_argument>("attention: no such kernel"));
  EXPECT_THAT([&] { launch("relu_dropout", {memory}); },
              ThrowsMessage<std::invalid_argument>("relu_dropout: 1 arguments, not 6"));
  auto arguments = relu_arguments();
  arguments[3] = 1;
  EXPECT_THAT([&] { launch("relu_dropout", arguments); },
              ThrowsMessage<std::invalid_argument>("relu_dropout: p has another type"));
  arguments = relu_arguments();
  arguments[2] = 24;
  EXPECT_THAT([&] { launch("relu_dropout", arguments); },
              ThrowsMessage<std::invalid_argument>("relu_dropout: width is no multiple of 16"));
  arguments = relu_arguments();
  arguments[0] = static_cast<const void*>(memory + 8);
  EXPECT_THAT([&] { launch("relu_dropout", arguments); },
              ThrowsMessage<std::invalid_argument>("relu_dropout: h_ptr is no multiple of 16"));
}

TEST(DeviceKernels, ARefusalOfTheDriverIsOneLine) {
  DeviceKernels kernels(fake_driver(), torch::kCPU, 80);
  refusal = 2;
  EXPECT_THAT(
      [&] {
        kernels.launch("relu_dropout", {1, 1, 1}, relu_arguments());
      },
      ThrowsMessage<MachineError>("relu_dropout: the CUDA driver says: no memory (2)"));
  refusal = 0;  // it is asked again
  kernels.launch("relu_dropout", {1, 1, 1}, relu_arguments());
}

TEST(CudaDriver, AMissingLibraryIsOneLine) {
  EXPECT_THAT([] { load_cuda_driver("libcuda_that_is_not_there.so.1"); },
              ThrowsMessage<Error>("libcuda_that_is_not_there.so.1: not there; kernels on a card need NVIDIA's driver: "
                                   "install it, or use --device cpu"));
  setenv("NMT_CARD_KERNELS", "off", 1);
  EXPECT_THAT([] { load_cuda_driver("libm.so.6"); },
              testing::ThrowsMessage<Error>(HasSubstr("NMT_CARD_KERNELS is off")));
  unsetenv("NMT_CARD_KERNELS");
  EXPECT_THAT([] { load_cuda_driver("libm.so.6"); },
              ThrowsMessage<Error>(HasSubstr("libm.so.6: has no cuModuleLoadData")));
}

#ifdef NMT_WITH_CUDA
TEST(DeviceKernels, OneRunsOnACard) {
  if (!torch::cuda::is_available()) GTEST_SKIP() << "no card";
  const auto* card = at::cuda::getDeviceProperties(0);
  DeviceKernels kernels(load_cuda_driver(), torch::Device(torch::kCUDA, 0), card->major * 10 + card->minor);
  const auto gradient = torch::rand({10000}, torch::kCUDA), parts = torch::zeros({16}, torch::kCUDA);
  const std::vector<KernelArgument> arguments{gradient.const_data_ptr(), parts.const_data_ptr(), 10000};
  kernels.launch("squared_norm", {16, 1, 1}, arguments);
  EXPECT_NEAR(parts.sum().item<float>(), gradient.square().sum().item<float>(), 1e-2);
}
#endif

}  // namespace
}  // namespace nmt::device_kernels_test
