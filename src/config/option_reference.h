#pragma once

#include <string>

namespace nmt {

/// The option reference in Markdown (docs/options.md is exactly this; a test compares).
std::string option_reference();

}  // namespace nmt
