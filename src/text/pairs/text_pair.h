#pragma once

#include <string>

namespace nmt {

enum class TextSide { kSource, kTarget };

/// A text and a translation of it.
struct TextPair {
  std::string source, target;

  std::string& of(TextSide side) { return side == TextSide::kSource ? source : target; }
};

}  // namespace nmt
