#pragma once

#include <cstdint>
#include <string>

namespace nmt {

/// "80GB", "512 MiB", "1.5TB" -> bytes, at least one; kB (or KB), MB, GB and TB are powers of 1000, KiB to TiB of 1024.
/// `where` (an option, "FILE:LINE: NAME") starts the message. Throws Error.
int64_t parse_bytes(const std::string& where, const std::string& text);

}  // namespace nmt
