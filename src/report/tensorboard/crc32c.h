#pragma once

#include <cstdint>
#include <string_view>

namespace nmt {

/// CRC-32C (Castagnoli; RFC 3720, appendix B.4): the checksum of TensorBoard's records.
uint32_t crc32c(std::string_view bytes);

}  // namespace nmt
