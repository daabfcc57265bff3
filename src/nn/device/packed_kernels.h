#pragma once

#include <string_view>

namespace nmt {

/// kernels/compiled.z: zlib's form of a JSON text, made by kernels/compile.py.
std::string_view packed_kernels();

}  // namespace nmt
