#pragma once

#include <iosfwd>
#include <string>

namespace nmt {

std::string version();  ///< of the toolkit, "0.3.0"

/// The instruction sets of this processor that the toolkit's kernels make use of: "AVX2 AVX512 AVX512-BF16 AMX", or on
/// ARM64 "NEON DotProd I8MM BF16".
std::string cpu_features();

/// The processor's name as the system gives it, for logs and reports.
std::string cpu_name();

/// The same from a text like that of /proc/cpuinfo. On ARM64 Linux knows no name, but the numbers of maker and kind:
/// "ARM64 processor 0x41 0xd0c".
std::string cpu_name_in(std::istream& info);

}  // namespace nmt
