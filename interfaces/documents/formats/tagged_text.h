#pragma once

#include <string_view>

#include "documents/segments/segment_builder.h"

namespace nmt::documents {

enum class TaggedTextKind : uint8_t {
  kSubtitle,  ///< <i>, {\an8}
  kWebVtt,    ///< <i>, <c.name>, <00:00:01.000>, entities
  kMessage,   ///< of a program: <b>
};

/// Text in which tags may stand, though it is no markup language: hands its parts to a builder. Tags without a partner
/// are units.
void add_tagged_text(SegmentBuilder& builder, std::string_view document, ByteRange range, TaggedTextKind kind);

}  // namespace nmt::documents
