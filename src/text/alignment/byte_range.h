#pragma once

#include <cstddef>

namespace nmt {

constexpr size_t kNone = static_cast<size_t>(-1);  ///< no index

/// Bytes of a text: [begin, end).
struct ByteRange {
  size_t begin = 0, end = 0;
  size_t size() const { return end - begin; }
  bool operator==(const ByteRange&) const = default;
};

}  // namespace nmt
