#pragma once

#include <exception>

namespace nmt {

/// True if `error` says that the host or a device had no memory left: less at a time may fit.
bool is_out_of_memory(const std::exception& error);

}  // namespace nmt
