#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <string>
#include <vector>

namespace nmt {

/// A stretch of the source text and one of the translation that say the same. Bytes, [begin, end).
struct AlignedWords {
  size_t source_begin = 0, source_end = 0, target_begin = 0, target_end = 0;
};

struct AlignedTranslation {
  std::string text;
  std::vector<AlignedWords> alignment = {};  ///< may be empty: then tags go by their place in the text
};

/// Sentences or paragraphs without line ends; their translations in the same order. It may throw.
using TranslateTexts = std::function<std::vector<AlignedTranslation>(std::span<const std::string>)>;

}  // namespace nmt
