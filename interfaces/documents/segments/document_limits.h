#pragma once

#include <cstddef>
#include <cstdint>

namespace nmt {

/// What a document of a stranger may ask for.
struct DocumentLimits {
  uint64_t unpacked_bytes = 64ull << 20;  ///< of a zip, all entries together; of any other document
  uint64_t ratio = 200;                   ///< of a zip: unpacked to packed bytes, where they are more than a megabyte
  size_t entries = 10'000;                ///< of a zip
  size_t depth = 256;                     ///< of nested elements
};

}  // namespace nmt
