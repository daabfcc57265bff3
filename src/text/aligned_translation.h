#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

namespace nmt {

constexpr size_t kNone = static_cast<size_t>(-1);  ///< no index

/// Bytes [begin, end) of a text.
struct ByteRange {
  size_t begin = 0, end = 0;
  size_t size() const { return end - begin; }
  bool operator==(const ByteRange&) const = default;
};

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

/// The weights of one attention layer for one sentence, with the tokens they are about.
struct AttentionGrid {
  std::string name;  ///< of the layer, such as decoder.5.cross
  int64_t heads = 0;
  std::vector<std::string> queries, keys;  ///< tokens that look, tokens that are looked at
  std::vector<float> weights;              ///< [heads, queries, keys], row-major

  float weight(int64_t head, int64_t query, int64_t key) const {
    return weights[(head * std::ssize(queries) + query) * std::ssize(keys) + key];
  }
};

}  // namespace nmt
