#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "text/codec/codec.h"

namespace nmt {

/// The words of a text, which stand between white space, and of each of its pieces the number of its word.
struct WordPieces {
  std::vector<std::string> words;
  std::vector<int64_t> word_of_piece;
};

/// The words of a raw source line with the pieces that the codec makes of it (`ids`, all parts one after the other,
/// without those of source_prefix).
/// Exact where each word's pieces are those that it has alone; elsewhere (a piece over a space, a normal form with
/// other spaces) pieces are counted from one beginning of a word to the next.
WordPieces source_words(const TextCodec& codec, std::string_view line, std::span<const int32_t> ids);

/// The words of what the ids are decoded to.
WordPieces target_words(const TextCodec& codec, std::span<const int32_t> ids);

}  // namespace nmt
