#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "text/aligned_translation.h"

namespace nmt {

/// What tags can stand between: a word, the punctuation at one of its ends, or a character of a script without spaces.
struct LinkedWord {
  ByteRange bytes;
  bool is_punctuation = false;
};

/// Words of both sides and which of them belong together.
struct WordLinks {
  std::vector<LinkedWord> source, target;
  /// The target words of a source word, in order: targets[first_target[i]] up to first_target[i + 1].
  std::vector<size_t> first_target;
  std::vector<uint32_t> targets;
  std::vector<uint32_t> links_of_target;  ///< how many source words a target word has
  std::vector<size_t> linked_before;      ///< target words with links before this one; one more than words

  std::span<const uint32_t> targets_of(size_t source_word) const {
    return std::span(targets).subspan(first_target[source_word],
                                      first_target[source_word + 1] - first_target[source_word]);
  }
};

/// The alignment may be any: what lies outside of the texts or inside of a character is cut. Words are not torn,
/// whatever it says, but for `borders`, bytes of the source, in words that are the same on both sides (H<sub>2</sub>O).
/// Where it says nothing, words belong together by their place in the sentence.
WordLinks link_words(std::string_view source, std::string_view target, std::span<const AlignedWords> alignment,
                     std::vector<size_t> borders = {});

}  // namespace nmt
