#include <fmt/format.h>

#include <string>
#include <vector>

#include "base/error.h"
#include "base/unicode.h"
#include "documents/formats/formats.h"
#include "documents/segments/segment_builder.h"
#include "documents/tokens/markup_token.h"

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

namespace {

struct FoundTag {
  ByteRange bytes;
  std::string name = {};
  bool closes = false, opens = false;
  size_t partner = kNone;
};

bool is_digit(char c) { return c >= '0' && c <= '9'; }

/// The tag that begins at i, or one without bytes.
FoundTag tag_at(std::string_view text, size_t i, TaggedTextKind kind) {
  const auto char_at = [&](size_t at) { return at < text.size() ? text[at] : '\0'; };
  if (text[i] == '{') {
    const size_t end = text.find_first_of("{}\n", i + 1);
    const bool is_tag = kind == TaggedTextKind::kSubtitle && char_at(i + 1) == '\\' && char_at(end) == '}';
    return {.bytes = {i, is_tag ? end + 1 : i}};
  }
  const size_t end = text.find_first_of("<>", i + 1);
  const bool closes = char_at(i + 1) == '/';
  const char first = char_at(i + 1 + closes);
  const bool is_time = kind == TaggedTextKind::kWebVtt && is_digit(first);
  if (end == text.npos || text[end] != '>' || !(is_ascii_letter(first) || is_time)) return {.bytes = {i, i}};
  FoundTag tag{.bytes = {i, end + 1}};
  tag.closes = closes;
  tag.opens = !closes && !is_time && text[end - 1] != '/';
  const size_t name = i + 1 + closes;
  tag.name = lower_name(text.substr(name, text.find_first_of(" \t\r\n./>", name) - name));
  return tag;
}

std::vector<FoundTag> find_tags(std::string_view document, ByteRange range, TaggedTextKind kind) {
  const std::string_view text = document.substr(0, range.end);
  std::vector<FoundTag> tags;
  for (size_t i = text.find_first_of("<{", range.begin); i != text.npos;) {
    const FoundTag tag = tag_at(text, i, kind);
    if (tag.bytes.size() > 0) tags.push_back(tag);
    i = text.find_first_of("<{", tag.bytes.size() > 0 ? tag.bytes.end : i + 1);
  }
  std::vector<size_t> open;
  for (size_t i = 0; i < tags.size(); ++i) {
    if (tags[i].opens && open.size() < kMostOpenPairs) open.push_back(i);
    if (!tags[i].closes) continue;
    for (size_t k = open.size(); k-- > 0;) {
      if (tags[open[k]].name != tags[i].name) continue;
      tags[i].partner = open[k];
      tags[open[k]].partner = i;
      open.resize(k);
      break;
    }
  }
  return tags;
}

}  // namespace

void add_tagged_text(SegmentBuilder& builder, std::string_view document, ByteRange range, TaggedTextKind kind) {
  const auto add_text = [&](size_t begin, size_t end) {
    if (begin >= end) return;
    const std::string_view text = document.substr(begin, end - begin);
    builder.add_text({begin, end},
                     kind == TaggedTextKind::kWebVtt ? decode_entities(text, EntitySet::kHtml) : std::string(text));
  };
  size_t at = range.begin;
  const auto tags = find_tags(document, range, kind);
  for (const auto& tag : tags) {
    if (tag.bytes.begin < at) continue;  // in a reading
    add_text(at, tag.bytes.begin);
    at = tag.bytes.end;
    if (tag.name == "rt" && tag.opens && tag.partner != kNone) {  // how the word before it is read: no text
      at = tags[tag.partner].bytes.end;
      builder.add_unit({tag.bytes.begin, at});
    } else if (tag.partner == kNone)
      builder.add_unit(tag.bytes, tag.name == "br" ? InlineKind::kSpace : InlineKind::kUnit);
    else if (tag.closes)
      builder.close(tags[tag.partner].bytes.begin, tag.bytes);
    else
      builder.open(tag.bytes.begin, tag.bytes);
  }
  add_text(at, range.end);
}

}  // namespace nmt::documents
