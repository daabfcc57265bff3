#include "documents/segments/segment_collector.h"

#include <string>
#include <utility>

#include "documents/segments/segment.h"
#include "documents/segments/segment_builder.h"

namespace nmt::documents {
namespace {

class SegmentCollector {
 public:
  SegmentCollector(const MarkupTokens& markup, const MarkupRules& rules, std::vector<Segment>& out)
      : markup_(markup), rules_(rules), out_(out) {}

  void collect(size_t begin, size_t end, bool in_text) {
    builders_.emplace_back(markup_.document);
    frames_.push_back({.end = end, .role = ElementRole::kBlock, .in_text = in_text});
    for (size_t i = begin; i < end; ++i) {
      if (leave_elements(i)) continue;
      visit(i);
    }
    while (frames_.size() > 1) leave(end);
    flush();
  }

 private:
  struct Frame {
    size_t end = 0, token = kNone;
    ElementRole role = ElementRole::kBlock;
    bool in_text = false, is_link = false, is_object = false, keeps_lines = false;
  };

  bool in_text() const { return frames_.back().in_text; }
  SegmentBuilder& builder() { return builders_.back(); }
  void flush() { builder().finish({.bytes = {}, .text = {}}, out_); }

  /// Leaves the elements whose content ends at a token; whether the token is the end tag of one of them.
  bool leave_elements(size_t token) {
    while (frames_.size() > 1 && frames_.back().end == token) {
      const bool is_its_end = markup_.tokens[frames_.back().token].partner == token;
      leave(token);
      if (is_its_end) return true;
    }
    return false;
  }

  void leave(size_t token) {
    const Frame frame = frames_.back();
    const Token& start = markup_.tokens[frame.token];
    const bool is_closed = start.partner == token;
    switch (frame.role) {
      case ElementRole::kBlock:
      case ElementRole::kContainer:
        flush();
        break;
      case ElementRole::kInline:
        // One that is left open stays so in the builder: it ends the segment.
        if (is_closed) builder().close(frame.token, markup_.tokens[token].bytes);
        if (frame.is_link && is_closed) builder().add_word_border(markup_.tokens[token].bytes.end);
        if (is_closed) last_end_ = token;
        break;
      case ElementRole::kUnit:
      case ElementRole::kSpace: {
        flush();
        builders_.pop_back();
        const size_t end = is_closed                       ? markup_.tokens[token].bytes.end
                           : token < markup_.tokens.size() ? markup_.tokens[token].bytes.begin
                                                           : markup_.document.size();
        add_object({start.bytes.begin, end}, frame.role, frame.is_object);
      }
    }
    frames_.pop_back();
  }

  static InlineKind kind_of(ElementRole role) {
    return role == ElementRole::kSpace ? InlineKind::kSpace : InlineKind::kUnit;
  }

  void add_object(ByteRange bytes, ElementRole role, bool is_object) {
    if (is_object) builder().add_word_border(bytes.begin);
    builder().add_unit(bytes, kind_of(role));
    if (is_object) builder().add_word_border(bytes.end);
  }

  bool keeps_lines(const Token& tag) const {
    if (!rules_.has_xml_space) return false;
    const auto space = attribute_value(markup_, tag, "xml:space");
    return space ? *space == "preserve" : frames_.back().keeps_lines;
  }

  void visit(size_t index) {
    const Token& token = markup_.tokens[index];
    switch (token.kind) {
      case TokenKind::kText:
        if (in_text()) add_text(token.bytes);
        break;
      case TokenKind::kCdata:
        if (in_text()) {
          const ByteRange inside = {token.bytes.begin + 9, token.bytes.end - 3};
          builder().add_text(token.bytes, std::string(markup_.text(inside)));
        }
        break;
      case TokenKind::kRawText:
        break;
      case TokenKind::kOther:
        if (in_text()) builder().add_unit(token.bytes);
        break;
      case TokenKind::kEndTag:
        builder().add_barrier();  // of no element here
        break;
      case TokenKind::kStartTag:
      case TokenKind::kEmptyTag:
        start_element(index);
    }
  }

  void start_element(size_t index) {
    const Token& token = markup_.tokens[index];
    if (rules_.text_attributes)
      for (const auto& attribute : rules_.text_attributes(markup_, index, in_text()))
        collect_attribute(markup_, attribute, rules_.entities, out_);
    ElementRole role = rules_.role(markup_, index, in_text());
    const bool is_empty = token.kind == TokenKind::kEmptyTag;
    if (!in_text() && role != ElementRole::kBlock) role = ElementRole::kContainer;
    bool inside = in_text();
    const bool is_link = rules_.is_link && rules_.is_link(markup_, index);
    const bool is_object = rules_.is_object && rules_.is_object(markup_, index);
    switch (role) {
      case ElementRole::kBlock:
      case ElementRole::kContainer:
        flush();
        inside = role == ElementRole::kBlock;
        break;
      case ElementRole::kInline:
        if (is_empty) role = ElementRole::kUnit;
        if (is_link)
          builder().add_word_border(token.bytes.begin);
        else if (last_end_ + 1 == index && rules_.begins_word && rules_.begins_word(markup_, index))
          builder().add_word_border(token.bytes.begin, true);
        if (!is_empty) builder().open(index, token.bytes, is_link);
        break;
      case ElementRole::kUnit:
      case ElementRole::kSpace:
        inside = false;
        if (!is_empty) builders_.emplace_back(markup_.document);
    }
    if (!is_empty)
      frames_.push_back({.end = token.content_end,
                         .token = index,
                         .role = role,
                         .in_text = inside,
                         .is_link = is_link,
                         .is_object = is_object,
                         .keeps_lines = keeps_lines(token)});
    else if (role == ElementRole::kUnit || role == ElementRole::kSpace)
      add_object(token.bytes, role, is_object);
  }

  void add_text(ByteRange bytes) {
    if (frames_.back().keeps_lines)
      builder().add_kept_lines(bytes, [&](ByteRange line) { add_line(line); });
    else
      add_line(bytes);
  }

  /// Entities of XML that nobody knows are kept as units.
  void add_line(ByteRange bytes) {
    const std::string_view text = markup_.text(bytes);
    if (rules_.entities == EntitySet::kHtml) {
      builder().add_text(bytes, decode_entities(text, rules_.entities));
      return;
    }
    size_t begin = 0;
    for (size_t i = text.find('&'); i != text.npos; i = text.find('&', i + 1)) {
      if (decode_entity(text.substr(i), rules_.entities).length > 0) continue;
      const size_t end = text.find(';', i) + 1;
      if (i > begin) add_known_text({bytes.begin + begin, bytes.begin + i});
      builder().add_unit({bytes.begin + i, bytes.begin + end});
      begin = end;
    }
    if (begin < text.size()) add_known_text({bytes.begin + begin, bytes.end});
  }
  void add_known_text(ByteRange bytes) {
    builder().add_text(bytes, decode_entities(markup_.text(bytes), rules_.entities));
  }

  const MarkupTokens& markup_;
  const MarkupRules& rules_;
  std::vector<Segment>& out_;
  std::vector<Frame> frames_;
  size_t last_end_ = kNone - 1;           ///< the end tag of an inline element that was left last
  std::vector<SegmentBuilder> builders_;  ///< of the text, and of each unit around the place
};

}  // namespace

void collect_segments(const MarkupTokens& markup, const MarkupRules& rules, size_t begin, size_t end, bool in_text,
                      std::vector<Segment>& out) {
  SegmentCollector(markup, rules, out).collect(begin, end, in_text);
}

void collect_attribute(const MarkupTokens& markup, const Attribute& attribute, EntitySet entities,
                       std::vector<Segment>& out) {
  auto value = collapse(decode_entities(markup.text(attribute.value), entities));
  if (!has_letter(value.text)) return;
  out.push_back({.bytes = attribute.value,
                 .text = std::move(value.text),
                 .lead = std::move(value.lead),
                 .tail = std::move(value.tail),
                 .encoding = TextEncoding::kAttribute,
                 .quote = attribute.quote});
}

}  // namespace nmt::documents
