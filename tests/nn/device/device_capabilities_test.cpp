#include <gtest/gtest.h>

#include "base/error.h"
#include "nn/device/device.h"
#include "nn/kernels/x86_level.h"
#include "support.h"

namespace nmt::device_capabilities_test {
namespace {

TEST(DeviceCapabilities, OfTheCpu) {
  const auto cpu = capabilities_of(torch::kCPU);
  EXPECT_TRUE(cpu.host);
  EXPECT_EQ(cpu.bfloat16, kernels::has_bfloat16_tiles() || kernels::has_quick_bfloat16());
  EXPECT_EQ(resolve_precision(TrainingPrecision::kAuto, cpu), cpu.bfloat16 ? torch::kBFloat16 : torch::kFloat32);
  EXPECT_FALSE(cpu.float16 || cpu.flash_attention || cpu.efficient_attention || cpu.recurrent_layers || cpu.graphs);
}

// bfloat16 and FlashAttention-2 begin with Ampere (8.0), tensor cores with Volta (7.0).
TEST(DeviceCapabilities, OfGenerationsOfCards) {
  struct Card {
    int major, minor;
    bool bfloat16, float16, flash;
  };
  for (const auto& [major, minor, bfloat16, float16, flash] :
       {Card{6, 1, false, false, false}, Card{7, 0, false, true, false}, Card{7, 5, false, true, false},
        Card{8, 0, true, true, true}, Card{8, 9, true, true, true}, Card{9, 0, true, true, true},
        Card{12, 0, true, true, true}}) {
    const auto can = capabilities_of_cuda(major, minor, 1 << 30);
    EXPECT_FALSE(can.host);
    EXPECT_EQ(can.bfloat16, bfloat16) << major;
    EXPECT_EQ(can.float16, float16) << major;
    EXPECT_EQ(can.flash_attention, flash) << major;
    EXPECT_TRUE(can.efficient_attention && can.recurrent_layers);
    EXPECT_EQ(can.memory, 1 << 30);
    EXPECT_EQ(resolve_precision(TrainingPrecision::kAuto, can), bfloat16  ? torch::kBFloat16
                                                                : float16 ? torch::kFloat16
                                                                          : torch::kFloat32)
        << major << "." << minor;
    EXPECT_EQ(resolve_precision(TrainingPrecision::kBf16, can), torch::kBFloat16) << "who asks for it gets it";
    EXPECT_EQ(resolve_precision(TrainingPrecision::kFp16, can), torch::kFloat16);
  }
}

TEST(DeviceCapabilities, Float16IsNotForTheCpu) {
  EXPECT_EQ(test::message_of<Error>([] { resolve_precision(TrainingPrecision::kFp16, torch::kCPU); }),
            "run.precision fp16: is for GPUs; use bf16 or fp32");
  for (const auto type : {torch::kFloat32, torch::kBFloat16, torch::kFloat16})
    EXPECT_EQ(type_of_precision(precision_name(type)), type);
}

}  // namespace
}  // namespace nmt::device_capabilities_test
