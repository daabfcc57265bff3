#include <algorithm>
#include <initializer_list>
#include <map>
#include <string>
#include <vector>

#include "base/error.h"
#include "documents/formats/formats.h"
#include "documents/segments/segment.h"
#include "documents/segments/segment_builder.h"
#include "documents/tokens/markup_token.h"
#include "documents/tokens/xml_tokenizer.h"

namespace nmt::documents {
namespace {

constexpr std::string_view kForReview = " state=\"needs-review-translation\"";

class XliffReader {
 public:
  XliffReader(const MarkupTokens& markup, TextDocument& document) : markup_(markup), document_(document) {}

  void read() {
    bool has_root = false;
    std::vector<bool> kept = {false}, keeps_lines = {false};
    for (size_t i = 0; i < markup_.tokens.size(); ++i) {
      const Token& token = markup_.tokens[i];
      if (token.kind == TokenKind::kEndTag) {
        kept.pop_back();
        keeps_lines.pop_back();
      }
      if (token.kind != TokenKind::kStartTag) continue;
      const auto translate = attribute_value(markup_, token, "translate");
      kept.push_back(translate == "no" ? true : translate == "yes" ? false : kept.back());
      keeps_lines.push_back(preserves_space(i, keeps_lines.back()));
      if (!has_root) {
        if (local_name(markup_.name(token)) != "xliff")
          throw Error("XLIFF: the root element is not <xliff>; send it as .xml");
        is_second_version_ = attribute_value(markup_, token, "version").value_or("").starts_with('2');
        has_root = true;
      }
      if (is_second_version_ && is_tag(i, "unit")) original_data_.clear();
      if (is_second_version_ && is_tag(i, "data"))
        original_data_.emplace(attribute_value(markup_, token, "id").value_or(""), markup_.text(inside_of(i)));
      const bool is_unit = local_name(markup_.name(token)) == (is_second_version_ ? "segment" : "trans-unit");
      if (is_unit && !kept.back()) read_unit(i, keeps_lines.back());
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

  bool preserves_space(size_t token, bool around) const {
    const auto space = attribute_value(markup_, markup_.tokens[token], "xml:space");
    return space ? *space == "preserve" : around;
  }

  void read_unit(size_t unit, bool keeps_lines) {
    size_t source = kNone, target = kNone, behind = kNone, cut_source = kNone;
    for (size_t i = unit + 1; i < markup_.tokens[unit].content_end; i = end_of(i)) {
      if (is_tag(i, "source") && source == kNone) source = behind = i;
      if (is_tag(i, "seg-source") && source != kNone) behind = cut_source = i;
      if (is_tag(i, "target") && target == kNone) target = i;
    }
    if (source == kNone || markup_.tokens[source].kind != TokenKind::kStartTag) return;
    keeps_lines = preserves_space(source, keeps_lines);
    if (target != kNone && cut_source != kNone && fill_marks(cut_source, target, keeps_lines)) return;
    if (target != kNone && !is_untranslated(unit, source, target)) return;
    const size_t before = document_.segments.size();
    add_segments(source, keeps_lines);
    if (document_.segments.size() == before) return;
    if (is_second_version_) set_state(unit);
    add_target(source, target, behind);
  }

  /// The text in an element, without that of codes in it.
  std::string text_of(size_t start) const {
    std::string text;
    for (size_t i = start + 1; i + 1 < end_of(start); ++i) {
      const Token& token = markup_.tokens[i];
      if (token.kind == TokenKind::kText || token.kind == TokenKind::kCdata)
        text += markup_.text(token);
      else if (token.kind == TokenKind::kStartTag && !is_inline(i))
        i = end_of(i) - 1;
    }
    return text;
  }

  /// A target without text, or a copy of the source whose state says that it is still to be translated.
  bool is_untranslated(size_t unit, size_t source, size_t target) const {
    const std::string text = text_of(target);
    if (is_white(text)) return true;
    const auto state = attribute_value(markup_, markup_.tokens[is_second_version_ ? unit : target], "state");
    const bool is_new = is_second_version_ ? state == "initial" : state == "new" || state == "needs-translation";
    const bool is_copy = text == text_of(source);
    if (is_new && !is_copy) ++document_.left_units;
    return is_new && is_copy;
  }

  bool is_mark(size_t token) const {
    return is_tag(token, "mrk") && attribute_value(markup_, markup_.tokens[token], "mtype") == "seg";
  }

  /// Fills the marks of a target that have no text, each from that of the source with its number. False where the
  /// target has no marks.
  bool fill_marks(size_t cut_source, size_t target, bool keeps_lines) {
    std::map<std::string_view, size_t> sources;
    for (size_t i = cut_source + 1; i + 1 < end_of(cut_source); ++i)
      if (is_mark(i) && markup_.tokens[i].kind == TokenKind::kStartTag)
        sources.emplace(attribute_value(markup_, markup_.tokens[i], "mid").value_or(""), i);
    bool has_marks = false, has_filled = false;
    for (size_t i = target + 1; i + 1 < end_of(target); ++i) {
      if (!is_mark(i)) continue;
      has_marks = true;
      const Token& mark = markup_.tokens[i];
      const auto found = sources.find(attribute_value(markup_, mark, "mid").value_or(""));
      if (found == sources.end() || !is_white(text_of(i))) continue;
      const size_t before = document_.segments.size();
      add_segments(found->second, keeps_lines);
      const size_t source = found->second;
      sources.erase(found);  // a mark of the source is written once
      if (document_.segments.size() == before) continue;
      std::string start(markup_.text(mark));
      if (mark.kind == TokenKind::kEmptyTag) start.replace(start.size() - 2, 2, ">");
      document_.copies.push_back({.source = inside_of(source),
                                  .replaced = {mark.bytes.begin, last_byte(i)},
                                  .before = start,
                                  .after = "</" + std::string(markup_.name(mark)) + ">"});
      has_filled = true;
    }
    if (has_filled)
      document_.copies.push_back({.source = {},
                                  .replaced = markup_.tokens[target].bytes,
                                  .before = start_for_review(target) + ">",
                                  .after = {}});
    return has_marks;
  }

  ByteRange inside_of(size_t start) const {
    const Token& tag = markup_.tokens[start];
    return {tag.bytes.end, markup_.tokens[tag.content_end].bytes.begin};
  }

  /// The start tag of a target, without its end, with the state of what is to be reviewed.
  std::string start_for_review(size_t target) const {
    const Token& tag = markup_.tokens[target];
    std::string start(markup_.text(tag));
    start.resize(start.size() - (tag.kind == TokenKind::kEmptyTag ? 2 : 1));
    if (is_second_version_) return start;
    const auto old_state = attribute_value(markup_, tag, "state");
    if (!old_state) return start + std::string(kForReview);
    const size_t offset = static_cast<size_t>(old_state->data() - document_.bytes().data()) - tag.bytes.begin;
    return start.replace(offset, old_state->size(), "needs-review-translation");
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
    TranslatedCopy copy;
    copy.source = inside_of(source);
    copy.after = "</" + name + ">";
    if (target == kNone) {
      const size_t place = last_byte(behind);
      copy.replaced = {place, place};
      const Token& space = markup_.tokens[source - 1];
      if (space.kind == TokenKind::kText) copy.before = markup_.text(space);
      copy.before += "<" + name + std::string(is_second_version_ ? "" : kForReview) + ">";
    } else {
      copy.replaced = {markup_.tokens[target].bytes.begin, last_byte(target)};
      copy.before = start_for_review(target) + ">";
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

  /// Whether a code separates words: it says that it is a line break, or what it stands for is one.
  bool is_line_break(size_t token) const {
    const Token& tag = markup_.tokens[token];
    if (attribute_value(markup_, tag, "ctype") == "lb" || attribute_value(markup_, tag, "subtype") == "xlf:lb")
      return true;
    if (tag.kind == TokenKind::kStartTag && stands_for_space(markup_.text(inside_of(token)))) return true;
    for (const auto* name : {"equiv-text", "equiv", "disp"})
      if (stands_for_space(attribute_value(markup_, tag, name).value_or(""))) return true;
    const auto data = original_data_.find(attribute_value(markup_, tag, "dataref").value_or(""));
    return data != original_data_.end() && stands_for_space(data->second);
  }

  /// What a code stands for, as it is written in a file: a tag of a line break or tab, or the character.
  static bool stands_for_space(std::string_view written) {
    std::string code = decode_entities(written, EntitySet::kXml);
    if (code.empty()) return false;
    if ((is_white(code) && collapsible_length(code, 0) > 0) || code == "\\n" || code == "\\t") return true;
    if (code.front() != '<') return false;
    code = lower_name(code.substr(1, code.find_first_of(" />\t\n", 1) - 1));
    const auto name = local_name(code);
    return name == "br" || name == "lb" || name == "line-break" || name == "tab";
  }

  /// Where lines are kept, each is a text of its own.
  void add_text(SegmentBuilder& builder, ByteRange bytes, bool keeps_lines) const {
    const auto add = [&](ByteRange line) {
      builder.add_text(line, decode_entities(markup_.text(line), EntitySet::kXml));
    };
    if (keeps_lines)
      builder.add_kept_lines(bytes, add);
    else
      add(bytes);
  }

  void add_segments(size_t source, bool keeps_lines) {
    SegmentBuilder builder(markup_.document);
    const size_t end = markup_.tokens[source].content_end;
    const auto spans = spans_in(source + 1, end);
    for (size_t i = source + 1; i < end; ++i) {
      const Token& token = markup_.tokens[i];
      const ByteRange whole = {token.bytes.begin, last_byte(i)};
      const auto span = spans.find(i);
      if (token.kind == TokenKind::kText) {
        add_text(builder, token.bytes, keeps_lines);
      } else if (token.kind == TokenKind::kCdata) {
        builder.add_text(token.bytes, std::string(markup_.text({token.bytes.begin + 9, token.bytes.end - 3})));
      } else if (token.kind == TokenKind::kEndTag) {
        builder.close(token.partner, token.bytes);
      } else if (is_inline(i)) {
        builder.open(i, token.bytes);
      } else {
        if (span == spans.end())
          builder.add_unit(whole, is_line_break(i) ? InlineKind::kSpace : InlineKind::kUnit);
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
  std::map<std::string_view, std::string_view> original_data_;  ///< what the codes of a unit stand for, by number
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
