#include "documents/formats/xliff.h"

#include <algorithm>
#include <initializer_list>
#include <map>
#include <string>
#include <vector>

#include "base/error.h"
#include "documents/segments/segment.h"
#include "documents/segments/segment_builder.h"
#include "documents/tokens/markup_token.h"
#include "documents/tokens/xml_tokenizer.h"

namespace nmt::documents {
namespace {

class XliffReader {
 public:
  XliffReader(const MarkupTokens& markup, TextDocument& document) : markup_(markup), document_(document) {}

  void read() {
    bool has_root = false;
    std::vector<bool> kept = {false};
    for (size_t i = 0; i < markup_.tokens.size(); ++i) {
      const Token& token = markup_.tokens[i];
      if (token.kind == TokenKind::kEndTag) kept.pop_back();
      if (token.kind != TokenKind::kStartTag) continue;
      const auto translate = attribute_value(markup_, token, "translate");
      kept.push_back(translate == "no" ? true : translate == "yes" ? false : kept.back());
      if (!has_root) {
        if (local_name(markup_.name(token)) != "xliff")
          throw Error("XLIFF: the root element is not <xliff>; send it as .xml");
        is_second_version_ = attribute_value(markup_, token, "version").value_or("").starts_with('2');
        has_root = true;
      }
      const bool is_unit = local_name(markup_.name(token)) == (is_second_version_ ? "segment" : "trans-unit");
      if (is_unit && !kept.back()) read_unit(i);
    }
    if (!has_root) throw Error("XLIFF: it holds nothing; send the file that your tool wrote");
  }

 private:
  bool is_tag(size_t token, std::string_view name) const {
    const Token& tag = markup_.tokens[token];
    return (tag.kind == TokenKind::kStartTag || tag.kind == TokenKind::kEmptyTag) &&
           local_name(markup_.name(tag)) == name;
  }
  size_t end_of(size_t token) const {
    const Token& tag = markup_.tokens[token];
    return tag.kind == TokenKind::kStartTag ? tag.content_end + 1 : token + 1;
  }
  size_t last_byte(size_t token) const { return markup_.tokens[end_of(token) - 1].bytes.end; }

  void read_unit(size_t unit) {
    size_t source = kNone, target = kNone, behind = kNone;
    for (size_t i = unit + 1; i < markup_.tokens[unit].content_end; i = end_of(i)) {
      if (is_tag(i, "source") && source == kNone) source = behind = i;
      if (is_tag(i, "seg-source") && source != kNone) behind = i;
      if (is_tag(i, "target") && target == kNone) target = i;
    }
    if (source == kNone || markup_.tokens[source].kind != TokenKind::kStartTag) return;
    if (target != kNone && has_content(target)) return;
    const size_t before = document_.segments.size();
    add_segments(source);
    if (document_.segments.size() == before) return;
    if (is_second_version_) set_state(unit);
    add_target(source, target, behind);
  }

  bool has_content(size_t start) const {
    for (size_t i = start + 1; i + 1 < end_of(start); ++i)
      if (markup_.tokens[i].kind != TokenKind::kText || !is_white(markup_.text(markup_.tokens[i]))) return true;
    return false;
  }

  void set_state(size_t unit) {
    const Token& tag = markup_.tokens[unit];
    for (const auto& attribute : attributes_of(markup_, tag)) {
      if (markup_.text(attribute.name) != "state") continue;
      document_.copies.push_back({.source = {}, .replaced = attribute.value, .before = "translated", .after = {}});
      return;
    }
    const size_t end = tag.bytes.end - 1;
    document_.copies.push_back({.source = {}, .replaced = {end, end}, .before = " state=\"translated\"", .after = {}});
  }

  void add_target(size_t source, size_t target, size_t behind) {
    const Token& source_tag = markup_.tokens[source];
    std::string name(markup_.name(source_tag));
    name.replace(name.size() - 6, 6, "target");
    const std::string state = is_second_version_ ? "" : " state=\"needs-review-translation\"";
    TranslatedCopy copy;
    copy.source = {source_tag.bytes.end, markup_.tokens[source_tag.content_end].bytes.begin};
    copy.after = "</" + name + ">";
    if (target == kNone) {
      const size_t place = last_byte(behind);
      copy.replaced = {place, place};
      const Token& space = markup_.tokens[source - 1];
      if (space.kind == TokenKind::kText) copy.before = markup_.text(space);
      copy.before += "<" + name + state + ">";
    } else {
      const Token& tag = markup_.tokens[target];
      copy.replaced = {tag.bytes.begin, last_byte(target)};
      std::string start(markup_.text(tag));
      start.resize(start.size() - (tag.kind == TokenKind::kEmptyTag ? 2 : 1));
      const auto old_state = attribute_value(markup_, tag, "state");
      if (old_state) {
        const size_t offset = static_cast<size_t>(old_state->data() - document_.bytes().data()) - tag.bytes.begin;
        if (!is_second_version_) start.replace(offset, old_state->size(), "needs-review-translation");
      } else {
        start += state;
      }
      copy.before = start + ">";
    }
    document_.copies.push_back(std::move(copy));
  }

  /// What begins or ends a span without being an element around it: its kind and the number that both sides have.
  std::string span_key(size_t token, bool& begins) const {
    for (const auto& [start, end, start_number, end_number] :
         {std::tuple("bpt", "ept", "rid", "rid"), std::tuple("bx", "ex", "rid", "rid"),
          std::tuple("sc", "ec", "id", "startref")}) {
      begins = is_tag(token, start);
      if (!begins && !is_tag(token, end)) continue;
      const Token& tag = markup_.tokens[token];
      auto number = attribute_value(markup_, tag, begins ? start_number : end_number);
      if (!number) number = attribute_value(markup_, tag, "id");
      return std::string(start) + " " + std::string(number.value_or(""));
    }
    return {};
  }

  /// The ends of such spans by their beginnings and the other way round, where they nest with all else.
  std::map<size_t, size_t> spans_in(size_t begin, size_t end) const {
    std::map<size_t, size_t> partners;
    std::vector<std::pair<std::string, size_t>> open;
    for (size_t i = begin; i < end; ++i) {
      bool begins = false;
      const std::string key = span_key(i, begins);
      if (!key.empty()) {
        if (begins) {
          open.emplace_back(key, i);
        } else if (!open.empty() && open.back().first == key) {
          partners[open.back().second] = i;
          partners[i] = open.back().second;
          open.pop_back();
        }
        i = end_of(i) - 1;
      } else if (is_inline(i)) {
        open.emplace_back("<", i);
      } else if (markup_.tokens[i].kind == TokenKind::kEndTag) {
        while (!open.empty() && open.back().first != "<") open.pop_back();
        if (!open.empty()) open.pop_back();
      } else {
        i = end_of(i) - 1;
      }
    }
    return partners;
  }

  bool is_inline(size_t token) const {
    const Token& tag = markup_.tokens[token];
    if (tag.kind != TokenKind::kStartTag) return false;
    if (is_tag(token, "mrk"))
      return attribute_value(markup_, tag, "translate") != "no" &&
             attribute_value(markup_, tag, "mtype") != "protected";
    return is_tag(token, "g") || is_tag(token, "pc");
  }

  void add_segments(size_t source) {
    SegmentBuilder builder(markup_.document);
    const size_t end = markup_.tokens[source].content_end;
    const auto spans = spans_in(source + 1, end);
    for (size_t i = source + 1; i < end; ++i) {
      const Token& token = markup_.tokens[i];
      const ByteRange whole = {token.bytes.begin, last_byte(i)};
      const auto span = spans.find(i);
      if (token.kind == TokenKind::kText) {
        builder.add_text(token.bytes, decode_entities(markup_.text(token), EntitySet::kXml));
      } else if (token.kind == TokenKind::kCdata) {
        builder.add_text(token.bytes, std::string(markup_.text({token.bytes.begin + 9, token.bytes.end - 3})));
      } else if (token.kind == TokenKind::kEndTag) {
        builder.close(token.partner, token.bytes);
      } else if (is_inline(i)) {
        builder.open(i, token.bytes);
      } else {
        if (span == spans.end())
          builder.add_unit(whole);
        else if (span->second > i)
          builder.open(i, whole);
        else
          builder.close(span->second, whole);
        i = end_of(i) - 1;
      }
    }
    builder.finish({.bytes = {}, .text = {}}, document_.segments);
  }

  const MarkupTokens& markup_;
  TextDocument& document_;
  bool is_second_version_ = false;
};

}  // namespace

std::unique_ptr<TextDocument> read_xliff(std::string_view bytes, const DocumentLimits& limits) {
  auto document = std::make_unique<TextDocument>(std::string(bytes));
  const auto markup = tokenize_xml(document->bytes(), limits.depth, "XLIFF");
  XliffReader(markup, *document).read();
  std::stable_sort(document->copies.begin(), document->copies.end(),
                   [](const auto& a, const auto& b) { return a.replaced.begin < b.replaced.begin; });
  // Without anything to fill nothing may be written over: not even the sources.
  if (document->copies.empty()) document->segments.clear();
  return document;
}

}  // namespace nmt::documents
