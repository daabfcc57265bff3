#include "nmt/version.h"

#include <fmt/format.h>
#include <torch/version.h>

#include "base/process/program_description.h"
#include "nmt/memory.h"
#include "nn/device/cpu_allocator.h"
#include "nn/kernels/kernels.h"

namespace nmt::api {

void reuse_freed_tensors() { nmt::reuse_freed_tensors(); }

std::string version() { return nmt::version(); }

std::string build_information() {
  return fmt::format("nmt {}, LibTorch {}, SentencePiece {}, kernels {} ({})", nmt::version(), TORCH_VERSION,
                     NMT_SENTENCEPIECE_VERSION, kernels::kernels().name, cpu_features());
}

}  // namespace nmt::api
