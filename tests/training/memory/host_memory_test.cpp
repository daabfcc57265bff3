#include "training/memory/host_memory.h"

#include <gtest/gtest.h>

namespace nmt::host_memory_test {
namespace {

TEST(MemoryOfHost, IsSome) { EXPECT_GT(memory_of_host(), 100'000'000); }

}  // namespace
}  // namespace nmt::host_memory_test
