#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace nmt {

/// A picture of 8-bit red, green and blue.
struct Image {
  int64_t width = 0, height = 0;
  std::vector<uint8_t> rgb;  ///< [height, width, 3], row-major
};

/// The bytes of a PNG file (ISO 15948): truecolour, not interlaced. Throws MachineError where memory is short.
std::string encode_png(const Image& image);

}  // namespace nmt
