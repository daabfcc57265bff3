#pragma once

#include <cstdint>

namespace nmt {

/// What processes of this machine may take together: all of it, or the least limit of the control groups (version 2)
/// that this process is in.
int64_t memory_of_host();

}  // namespace nmt
