#include "nmt/version.h"

#include <fmt/format.h>
#include <torch/version.h>

#include "base/process/version.h"
#include "nn/kernels/kernels.h"

namespace nmt::api {

std::string version() { return nmt::version(); }

std::string build_information() {
  return fmt::format("nmt {}, LibTorch {}, SentencePiece {}, kernels {} ({})", nmt::version(), TORCH_VERSION,
                     NMT_SENTENCEPIECE_VERSION, kernels::kernels().name, cpu_features());
}

}  // namespace nmt::api
