#pragma once

#include <string>

namespace nmt {

/// A text and a translation of it.
struct TextPair {
  std::string source, target;
};

}  // namespace nmt
