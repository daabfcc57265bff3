#include "nmt/memory.h"

#include "nn/device/cpu_allocator.h"

namespace nmt::api {

void reuse_freed_tensors() { nmt::reuse_freed_tensors(); }

}  // namespace nmt::api
