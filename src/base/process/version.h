#pragma once

#include <string>

namespace nmt {

std::string version();  ///< of the toolkit, "0.2.0"

/// The instruction sets of this processor that the toolkit's kernels make use of: "AVX2 AVX512 AVX512-BF16 AMX".
std::string cpu_features();

/// The processor's name as the system gives it, for logs and reports.
std::string cpu_name();

}  // namespace nmt
