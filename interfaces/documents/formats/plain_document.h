#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "documents/segments/segment_builder.h"
#include "documents/segments/text_document.h"

namespace nmt::documents {

/// Each line is a text.
std::unique_ptr<TextDocument> read_plain_text(std::string_view bytes);

/// Throws Error where bytes are not UTF-8; `what` is the format's name.
void check_utf8(std::string_view bytes, const std::string& what);

/// The byte behind the line that begins at `begin`, and the byte behind its text, without the line end.
struct LineEnds {
  size_t text, next;
};
LineEnds line_ends(std::string_view bytes, size_t begin);

enum class TaggedTextKind : uint8_t {
  kSubtitle,  ///< <i>, {\an8}
  kWebVtt,    ///< <i>, <c.name>, <00:00:01.000>, entities
  kMessage,   ///< of a program: <b>
};

/// Text in which tags may stand, though it is no markup language: hands its parts to a builder. Tags without a partner
/// are units.
void add_tagged_text(SegmentBuilder& builder, std::string_view document, ByteRange range, TaggedTextKind kind);

}  // namespace nmt::documents
