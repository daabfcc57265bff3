#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "documents/tokens/markup_token.h"

namespace nmt {

/// What a document of a stranger may ask for.
struct DocumentLimits {
  uint64_t unpacked_bytes = 64ull << 20;  ///< of a zip, all entries together; of any other document
  uint64_t ratio = 200;                   ///< of a zip: unpacked to packed bytes, where they are more than a megabyte
  size_t entries = 10'000;                ///< of a zip
  size_t depth = 256;                     ///< of nested elements
  // These hold for translate_document_apart() alone.
  uint64_t memory = 4ull << 30;          ///< bytes; a document full of tags takes fifty times its size
  uint64_t processor_seconds = 60;       ///< without the time of the translation
  uint64_t answer_bytes = 512ull << 20;  ///< texts and translated document together
};

}  // namespace nmt

namespace nmt::documents {

/// White space of a document that becomes one space: not the no-break space, but all line ends and control characters.
/// The bytes of that which begins at text[i]; 0 if there is none.
size_t collapsible_length(std::string_view text, size_t i);

bool is_white(std::string_view text);

/// Whether there is a letter in it. Numbers and marks alone are nothing to translate.
bool has_letter(std::string_view text);

/// A text without its tags, and the white space that stood at its ends.
struct CollapsedText {
  std::string lead, text, tail;
};
CollapsedText collapse(std::string_view text);

/// How deep pairs nest in a segment: what places tags calls itself for each level. Marks that are siblings (fields of
/// office files, <sc/> and <ec/>) nest as deep as they like, whatever the limit for elements is.
inline constexpr size_t kMostOpenPairs = 64;

enum class InlineKind : uint8_t {
  kPair,   ///< a start tag and its end tag
  kUnit,   ///< kept whole: <img>, <code>...</code>
  kSpace,  ///< kept whole, and stands for white space: <br>, a tab
  kStyle,  ///< a run of an office document: text in another form than most of the paragraph
};

/// An inline element of a segment and what it holds of the text.
struct InlineElement {
  InlineKind kind = InlineKind::kPair;
  size_t begin = 0, end = 0;  ///< bytes of the segment's text
  size_t parent = kNone;
  ByteRange open = {}, close = {};                 ///< bytes of the document; of units `open` is all
  bool space_before = false, space_after = false;  ///< of units
  size_t style = kNone;                            ///< of styles; of units that stood inside of a run
};

enum class TextEncoding : uint8_t {
  kPlain,  ///< written as it is
  kMarkup,
  kAttribute,
};

/// A sentence or paragraph of a document.
struct Segment {
  ByteRange bytes;                          ///< of the document, which the translation replaces
  std::string text;                         ///< what is translated: without tags, white space made one space
  std::string lead = {}, tail = {};         ///< white space at the ends of the text, inside of its tags
  std::vector<InlineElement> inlines = {};  ///< an outer one before those that it holds
  TextEncoding encoding = TextEncoding::kMarkup;
  char quote = '\0';  ///< of attributes; the others get quotes
  std::vector<ByteRange> styles =
      {};                 ///< the properties of runs of an office document; the first are those of most text
  size_t most_lines = 0;  ///< of subtitles: the translation is cut into at most this many lines; 0: it is not cut
  std::string line_end = {};
};

/// How the runs of an office document are written; properties stand between `run_open` and what the run holds.
struct RunForm {
  std::string run_open, text_open, text_close, run_close;
};

}  // namespace nmt::documents
