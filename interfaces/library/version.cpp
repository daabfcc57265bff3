#include "nmt/version.h"

#include <fmt/format.h>

#include "base/process/program_description.h"
#include "library/inner/guard.h"
#include "nmt/memory.h"
#include "nn/kernels/kernels.h"
#include "translation/torch_library.h"

extern "C" void nmt_reuse_freed_tensors() __attribute__((weak));

namespace nmt::api {

void reuse_freed_tensors() {
  guarded([] { torch_function(&nmt_reuse_freed_tensors, "nmt_reuse_freed_tensors")(); });
}

std::string version() { return nmt::version(); }

std::string build_information() {
  return fmt::format("nmt {}, LibTorch {}, SentencePiece {}, kernels {} ({})", nmt::version(), NMT_TORCH_VERSION,
                     NMT_SENTENCEPIECE_VERSION, kernels::kernels().name, cpu_features());
}

}  // namespace nmt::api
