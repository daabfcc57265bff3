#include "nn/kernels/arm_level.h"

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <csignal>
#include <cstdlib>
#include <map>
#include <string>

#include "nn/kernels/products.h"

namespace nmt::kernels::test::arm_level_test {
namespace {

const std::map<ArmLevel, std::string> kSets = {{ArmLevel::kNeon, "neon"},
                                               {ArmLevel::kDotProduct, "neon_dotprod"},
                                               {ArmLevel::kInt8Matrix, "neon_i8mm"},
                                               {ArmLevel::kBfloat16, "neon_bf16"}};

TEST(ArmLevel, ChoosesTheBestSetOfProducts) {
  const std::string chosen = packed_kernels().name;
  RecordProperty("packed_kernels", chosen);
  for (const auto& [level, set] : kSets)
    EXPECT_EQ(packed_kernels_by_name(set.c_str()) != nullptr, level <= arm_level()) << set;
  if (arm_level() == ArmLevel::kNone) {
    EXPECT_FALSE(chosen.starts_with("neon")) << chosen;
  } else {
    EXPECT_EQ(chosen, kSets.at(arm_level()));
    EXPECT_EQ(has_dot_products(WeightFormat::kInt8), arm_level() >= ArmLevel::kDotProduct);
    EXPECT_EQ(has_dot_products(WeightFormat::kBfloat16), arm_level() == ArmLevel::kBfloat16);
  }
}

#ifdef __aarch64__

// What Arm's manuals say of the processors that QEMU emulates (scripts/cross_arm64.sh).
TEST(ArmLevel, IsThatOfTheEmulatedProcessor) {
  const std::map<std::string, ArmLevel> levels = {
      {"cortex-a72", ArmLevel::kNeon}, {"neoverse-n1", ArmLevel::kDotProduct}, {"max", ArmLevel::kBfloat16}};
  const char* processor = std::getenv("QEMU_CPU");
  if (!processor) GTEST_SKIP() << "not under QEMU";
  ASSERT_TRUE(levels.contains(processor)) << processor;
  EXPECT_EQ(arm_level(), levels.at(processor));
}

// A processor without an instruction ends the program. Linux may hide what a processor has; QEMU does not.
template <typename Instruction>
void expect_instruction_from(ArmLevel level, Instruction instruction) {
  const auto run_alone = [&] {
    const rlimit no_core = {};
    setrlimit(RLIMIT_CORE, &no_core);
    instruction();
    std::_Exit(0);
  };
  if (arm_level() >= level) {
    EXPECT_EXIT(run_alone(), testing::ExitedWithCode(0), "");
  } else if (std::getenv("QEMU_CPU")) {
    EXPECT_EXIT(run_alone(), testing::KilledBySignal(SIGILL), "");
  }
}

TEST(ArmLevel, HasTheInstructionsOfItsSets) {
  expect_instruction_from(ArmLevel::kNeon, [] { asm volatile("fmla v0.4s, v0.4s, v0.4s" ::: "v0"); });
  expect_instruction_from(ArmLevel::kDotProduct, [] {
    asm volatile(".arch armv8.2-a+dotprod\n sdot v0.4s, v0.16b, v0.16b" ::: "v0");
  });
  expect_instruction_from(ArmLevel::kInt8Matrix, [] {
    asm volatile(".arch armv8.2-a+i8mm\n usdot v0.4s, v0.16b, v0.16b" ::: "v0");
  });
  expect_instruction_from(ArmLevel::kBfloat16, [] {
    asm volatile(".arch armv8.2-a+bf16\n bfdot v0.4s, v0.8h, v0.8h" ::: "v0");
  });
}

#endif

}  // namespace
}  // namespace nmt::kernels::test::arm_level_test
