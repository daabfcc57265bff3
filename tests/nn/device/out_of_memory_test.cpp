#include <gtest/gtest.h>

#include <new>
#include <stdexcept>

#include "nn/device/device.h"

namespace nmt::out_of_memory_test {
namespace {

TEST(IsOutOfMemory, KnowsTheWordsOfTheLibraries) {
  EXPECT_TRUE(is_out_of_memory(std::bad_alloc()));
  for (const char* words :
       {"DefaultCPUAllocator: can't allocate memory: you tried to allocate 8 bytes", "CUDA error: out of memory",
        "could not create a primitive", "could not execute a primitive", "could not create a memory object"})
    EXPECT_TRUE(is_out_of_memory(std::runtime_error(words))) << words;
  // What oneDNN cannot compute is no lack of memory.
  EXPECT_FALSE(is_out_of_memory(std::runtime_error("could not create a primitive descriptor for a matmul primitive")));
}

}  // namespace
}  // namespace nmt::out_of_memory_test
