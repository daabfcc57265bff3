#pragma once

namespace nmt::kernels {

/// All sets, each architecture's from the slowest to the fastest.
inline constexpr const char* kPackedSetNames[] = {"baseline",    "avx2", "avx_vnni",     "avx512",    "avx512_vnni",
                                                  "avx512_bf16", "neon", "neon_dotprod", "neon_i8mm", "neon_bf16"};

/// For tests and measurements: NMT_KERNEL_SET in the environment is the last set of kPackedSetNames that may be used,
/// of products and of other kernels alike. Throws Error where no set has this name.
bool environment_allows(const char* set);

}  // namespace nmt::kernels
