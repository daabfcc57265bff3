#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string_view>
#include <vector>

#include "documents/segments/segment.h"
#include "documents/tokens/markup_token.h"

namespace nmt::documents {

enum class ElementRole : uint8_t {
  kBlock,      ///< ends the sentence before it and behind it; its text is text
  kContainer,  ///< the same, but only blocks inside of it hold text
  kInline,     ///< goes with its words
  kUnit,       ///< stands in a line of text and is kept whole; blocks inside of it are texts of their own
  kSpace,      ///< the same, and separates words: <br>
};

/// What a kind of document says of its elements.
struct MarkupRules {
  EntitySet entities = EntitySet::kXml;
  /// The role of a start tag or an empty one. `in_text`: whether text around it would be translated.
  std::function<ElementRole(const MarkupTokens&, size_t token, bool in_text)> role;
  /// The attributes that are text; may be empty.
  std::function<std::vector<Attribute>(const MarkupTokens&, size_t token, bool in_text)> text_attributes = {};
  /// Links and labels, whose borders are those of words, and of texts where nothing else stands there.
  std::function<bool(const MarkupTokens&, size_t token)> is_link = {};
  /// Pictures and fields, whose borders are those of words.
  std::function<bool(const MarkupTokens&, size_t token)> is_object = {};
  /// Whether an inline element that begins where another one ends begins a word.
  std::function<bool(const MarkupTokens&, size_t token)> begins_word = {};
  bool has_xml_space = false;  ///< whether line ends are kept where xml:space says so
};

/// Appends the segments of the tokens [begin, end). `in_text`: whether text that is in no element is translated.
void collect_segments(const MarkupTokens& markup, const MarkupRules& rules, size_t begin, size_t end, bool in_text,
                      std::vector<Segment>& out);

/// Appends the value of an attribute as a segment, if there are words in it.
void collect_attribute(const MarkupTokens& markup, const Attribute& attribute, EntitySet entities,
                       std::vector<Segment>& out);

}  // namespace nmt::documents
