#pragma once

#include <cstddef>

namespace nmt {

/// Bytes [begin, end) of a text.
struct TextRange {
  size_t begin = 0, end = 0;
  bool operator==(const TextRange&) const = default;
};

}  // namespace nmt
