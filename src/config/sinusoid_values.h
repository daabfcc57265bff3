#pragma once

#include <cstdint>
#include <vector>

#include "config/kinds.h"

namespace nmt {

/// The sinusoids of positions first .. first + count - 1 (model.sinusoid): [count, features], row-major.
std::vector<float> sinusoid_values(Sinusoid form, int64_t first, int64_t count, int64_t features);

}  // namespace nmt
