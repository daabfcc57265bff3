#include "documents/formats/plain_document.h"

#include <fmt/format.h>

#include "base/error.h"
#include "base/files/byte_order_mark.h"
#include "base/unicode.h"
#include "documents/segments/segment_builder.h"

namespace nmt::documents {

std::unique_ptr<TextDocument> read_plain_text(std::string_view bytes) {
  check_utf8(bytes, "the text");
  auto document = std::make_unique<TextDocument>(std::string(bytes));
  SegmentBuilder builder(document->bytes());
  size_t begin = byte_order_mark_length(bytes);
  while (begin < bytes.size()) {
    const auto ends = line_ends(bytes, begin);
    builder.add_text({begin, ends.text}, std::string(bytes.substr(begin, ends.text - begin)));
    builder.finish({.bytes = {}, .text = {}, .encoding = TextEncoding::kPlain}, document->segments);
    begin = ends.next;
  }
  return document;
}

void check_utf8(std::string_view bytes, const std::string& what) {
  if (bytes.starts_with("\xFF\xFE") || bytes.starts_with("\xFE\xFF"))
    throw Error(fmt::format("{} is UTF-16; save it as UTF-8", what));
  if (const auto byte = find_invalid_utf8(bytes))
    throw Error(
        fmt::format("{}, line {}: byte {} is not UTF-8; save it as UTF-8", what, line_of(bytes, *byte), *byte + 1));
}

LineEnds line_ends(std::string_view bytes, size_t begin) {
  const size_t found = bytes.find_first_of("\r\n", begin);
  if (found == bytes.npos) return {bytes.size(), bytes.size()};
  return {found, found + (bytes.substr(found, 2) == "\r\n" ? 2 : 1)};
}

}  // namespace nmt::documents
