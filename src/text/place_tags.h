#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "text/aligned_translation.h"

namespace nmt {

/// Which neighbour an element without words stays with, where the translation has something between them.
enum class TagNeighbour : uint8_t { kNeither, kLeft, kRight };

/// What a tag holds of the source text, in bytes. An element without words has begin == end.
struct TagSpan {
  size_t begin = 0, end = 0;
  size_t parent = kNone;  ///< the span around it, which comes before it in the list
  TagNeighbour neighbour = TagNeighbour::kNeither;
};

/// A tag of the translation: that of `span` stands before the byte `position`.
struct TagEvent {
  size_t position = 0, span = 0;
  bool closes = false;
};

/// Where the tags stand in the translation, in the order in which they are written. Each span is opened once and closed
/// once, and the spans nest as they did. A span stands around the words that are aligned with its words: of words that
/// lie apart, around the run of them in which the fewest others stand. What has no words, or none that are aligned,
/// stands between the words that its neighbours are aligned with. Takes any alignment; time grows with words times
/// depth, and so does the stack with depth: kMostOpenPairs bounds it.
std::vector<TagEvent> place_tags(std::string_view source, std::span<const TagSpan> spans,
                                 const AlignedTranslation& target);

}  // namespace nmt
