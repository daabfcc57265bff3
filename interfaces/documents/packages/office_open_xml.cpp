#include <fmt/format.h>

#include <initializer_list>
#include <set>
#include <string_view>
#include <utility>

#include "base/error.h"
#include "documents/packages/packaged_document.h"
#include "documents/segments/segment_builder.h"
#include "documents/tokens/markup_token.h"
#include "documents/tokens/xml_tokenizer.h"

namespace nmt::documents {
namespace {

class OfficeParagraphs {
 public:
  OfficeParagraphs(const MarkupTokens& markup, const OfficeDialect& dialect, std::vector<Segment>& out)
      : markup_(markup), dialect_(dialect), out_(out) {}

  /// The paragraphs among the tokens [begin, end).
  void collect(size_t begin, size_t end) {
    for (size_t i = begin; i < end; ++i) {
      if (markup_.tokens[i].kind != TokenKind::kStartTag || !is(i, {"p"})) continue;
      SegmentBuilder builder(markup_.document);
      add_children(builder, children_of(i));
      builder.finish({.bytes = {}, .text = {}}, out_);
      i = markup_.tokens[i].content_end;
    }
  }

 private:
  /// An element or a comment: its tokens [begin, end).
  struct Child {
    size_t begin, end;
  };
  /// A field of several runs: its first and last one, and the one behind which its result begins.
  struct Field {
    size_t separate = kNone, end = kNone;
    bool is_link = false;
  };

  bool is(size_t token, std::initializer_list<std::string_view> names) const {
    const Token& tag = markup_.tokens[token];
    if (tag.kind != TokenKind::kStartTag && tag.kind != TokenKind::kEmptyTag) return false;
    const std::string_view name = markup_.name(tag);
    if (!name.starts_with(dialect_.prefix)) return false;
    for (const auto wanted : names)
      if (name.substr(dialect_.prefix.size()) == wanted) return true;
    return false;
  }

  std::vector<Child> children_of(size_t start) const {
    std::vector<Child> children;
    const Token& parent = markup_.tokens[start];
    if (parent.kind != TokenKind::kStartTag) return children;
    for (size_t i = start + 1; i < parent.content_end;) {
      const Token& token = markup_.tokens[i];
      const size_t end = token.kind == TokenKind::kStartTag ? token.content_end + 1 : i + 1;
      if (token.kind != TokenKind::kText && token.kind != TokenKind::kCdata) children.push_back({i, end});
      i = end;
    }
    return children;
  }

  ByteRange bytes_of(Child child) const {
    return {markup_.tokens[child.begin].bytes.begin, markup_.tokens[child.end - 1].bytes.end};
  }

  /// The border of a link or picture is the border of a word.
  static void open_link(SegmentBuilder& builder, size_t key, ByteRange bytes) {
    builder.add_word_border(bytes.begin);
    builder.open(key, bytes, true);
  }
  static void close_link(SegmentBuilder& builder, size_t key, ByteRange bytes) {
    builder.close(key, bytes);
    builder.add_word_border(bytes.end);
  }

  void add_unit(SegmentBuilder& builder, Child child, InlineKind kind = InlineKind::kUnit, bool is_picture = false) {
    if (is_picture) builder.add_word_border(bytes_of(child).begin);
    builder.add_unit(bytes_of(child), kind);
    if (is_picture) builder.add_word_border(bytes_of(child).end);
    collect(child.begin, child.end);
  }

  void add_children(SegmentBuilder& builder, const std::vector<Child>& children) {
    const auto fields = fields_of(children);
    add_children(builder, children, fields, 0, children.size());
  }

  void add_children(SegmentBuilder& builder, const std::vector<Child>& children, const std::vector<Field>& fields,
                    size_t begin, size_t end) {
    for (size_t i = begin; i < end; ++i) {
      const Child child = children[i];
      const Field& field = fields[i];
      if (field.end != kNone && field.end < end) {
        const size_t last = field.end;
        const bool is_link = field.is_link && field.separate != kNone;
        if (is_link && open_links_ == kMostOpenPairs) {
          // Fields are siblings: no limit of elements bounds how deep they nest. The marks of a deeper one end a text.
          builder.add_barrier();
          i = field.separate;
          continue;
        }
        if (is_link) {
          ++open_links_;
          open_link(builder, child.begin, {bytes_of(child).begin, bytes_of(children[field.separate]).end});
          add_children(builder, children, fields, field.separate + 1, last);
          close_link(builder, child.begin, bytes_of(children[last]));
          --open_links_;
        } else {
          add_unit(builder, {child.begin, children[last].end});
        }
        i = last;
      } else if (is(child.begin, {"r"})) {
        i = add_runs(builder, children, i, end) - 1;
      } else {
        add_other(builder, child);
      }
    }
  }

  /// The address of a run of a slide that is a link: runs in a row with the same one are one link. Empty for another.
  std::string_view address_of(Child run) const {
    if (!is(run.begin, {"r"})) return {};
    for (const Child child : children_of(run.begin)) {
      if (!is(child.begin, {"rPr"})) continue;
      for (const Child property : children_of(child.begin))
        if (is(property.begin, {"hlinkClick"}))
          return attribute_value(markup_, markup_.tokens[property.begin], "r:id").value_or("");
    }
    return {};
  }

  /// The run `begin`, or all of the link that begins with it. Returns what follows.
  size_t add_runs(SegmentBuilder& builder, const std::vector<Child>& children, size_t begin, size_t end) {
    const std::string_view address = address_of(children[begin]);
    if (address.empty()) {
      add_run(builder, children[begin]);
      return begin + 1;
    }
    // A slide has no tags around its links.
    const size_t key = children[begin].begin, first_byte = bytes_of(children[begin]).begin;
    open_link(builder, key, {first_byte, first_byte});
    size_t i = begin, last_byte = first_byte;
    for (; i < end && address_of(children[i]) == address; ++i) {
      add_run(builder, children[i]);
      last_byte = bytes_of(children[i]).end;
    }
    close_link(builder, key, {last_byte, last_byte});
    return i;
  }

  void add_other(SegmentBuilder& builder, Child child) {
    const Token& start = markup_.tokens[child.begin];
    if (is(child.begin, {"pPr", "endParaRPr"})) {
      builder.add_barrier();
    } else if (is(child.begin, {"hyperlink"}) && start.kind == TokenKind::kStartTag) {
      open_link(builder, child.begin, start.bytes);
      add_children(builder, children_of(child.begin));
      close_link(builder, child.begin, markup_.tokens[child.end - 1].bytes);
    } else if (is(child.begin, {"ins", "moveTo", "smartTag", "customXml", "dir", "bdo"}) &&
               start.kind == TokenKind::kStartTag) {
      builder.open(child.begin, start.bytes);
      add_children(builder, children_of(child.begin));
      builder.close(child.begin, markup_.tokens[child.end - 1].bytes);
    } else if (is(child.begin, {"sdt"})) {
      add_content_control(builder, child);
    } else {
      add_unit(builder, child, is(child.begin, {"br"}) ? InlineKind::kSpace : InlineKind::kUnit);
    }
  }

  /// A content control has its text one element deeper than its properties.
  void add_content_control(SegmentBuilder& builder, Child control) {
    for (const Child child : children_of(control.begin)) {
      if (!is(child.begin, {"sdtContent"}) || markup_.tokens[child.begin].kind != TokenKind::kStartTag) continue;
      builder.open(control.begin, {bytes_of(control).begin, markup_.tokens[child.begin].bytes.end});
      add_children(builder, children_of(child.begin));
      builder.close(control.begin, {markup_.tokens[child.end - 1].bytes.begin, bytes_of(control).end});
      return;
    }
    add_unit(builder, control);
  }

  void add_run(SegmentBuilder& builder, Child run) {
    const auto children = children_of(run.begin);
    ByteRange style = {markup_.tokens[run.begin].bytes.end, markup_.tokens[run.begin].bytes.end};
    bool has_text = false, has_field = false, has_picture = false, is_space = !children.empty();
    for (const Child child : children) {
      if (is(child.begin, {"rPr"})) {
        style = bytes_of(child);
        continue;
      }
      if (is(child.begin, {"ruby"}) && add_ruby(builder, run, child)) return;
      has_text = has_text || is(child.begin, {"noBreakHyphen", "softHyphen"}) ||
                 (is(child.begin, {"t"}) && markup_.tokens[child.begin].kind == TokenKind::kStartTag);
      has_picture = has_picture || is_picture(child);
      has_field = has_field || is(child.begin, {"fldChar"});
      is_space = is_space && is_white_element(child);
    }
    if (has_field) {  // of a field that ends in another paragraph
      builder.add_barrier();
      collect(run.begin, run.end);
      return;
    }
    if (!has_text) {
      add_unit(builder, run, is_space ? InlineKind::kSpace : InlineKind::kUnit, has_picture);
      return;
    }
    builder.begin_run(bytes_of(run), style);
    for (const Child child : children) {
      if (is(child.begin, {"rPr"})) continue;
      if (is(child.begin, {"t"}))
        add_text(builder, child);
      else if (is(child.begin, {"noBreakHyphen"}))
        builder.add_text(bytes_of(child), "\u2011");
      else if (is(child.begin, {"softHyphen"}))
        builder.add_text(bytes_of(child), "");
      else
        add_unit(builder, child, is_white_element(child) ? InlineKind::kSpace : InlineKind::kUnit, is_picture(child));
    }
    builder.end_run();
  }

  /// A run whose only content is a word with its reading above: the word is text, the reading stays. False for another.
  bool add_ruby(SegmentBuilder& builder, Child run, Child ruby) {
    for (const Child child : children_of(run.begin))
      if (child.begin != ruby.begin && !is(child.begin, {"rPr"})) return false;
    for (const Child base : children_of(ruby.begin)) {
      if (!is(base.begin, {"rubyBase"}) || markup_.tokens[base.begin].kind != TokenKind::kStartTag) continue;
      builder.open(run.begin, {bytes_of(run).begin, markup_.tokens[base.begin].bytes.end});
      add_children(builder, children_of(base.begin));
      builder.close(run.begin, {markup_.tokens[base.end - 1].bytes.begin, bytes_of(run).end});
      return true;
    }
    return false;
  }

  bool is_picture(Child child) const { return is(child.begin, {"drawing", "pict", "object"}); }
  bool is_white_element(Child child) const { return is(child.begin, {"tab", "ptab", "br", "cr"}); }

  void add_text(SegmentBuilder& builder, Child text) {
    std::string decoded;
    for (size_t i = text.begin + 1; i + 1 < text.end; ++i) {
      const Token& token = markup_.tokens[i];
      if (token.kind == TokenKind::kText) decoded += decode_entities(markup_.text(token), EntitySet::kXml);
      if (token.kind == TokenKind::kCdata) decoded += markup_.text({token.bytes.begin + 9, token.bytes.end - 3});
    }
    builder.add_text(bytes_of(text), decoded);
  }

  /// For each child the field that begins in it, where all of it is among these children.
  std::vector<Field> fields_of(const std::vector<Child>& children) const {
    std::vector<Field> fields(children.size());
    std::vector<size_t> open;
    std::vector<Field> unfinished(children.size());
    for (size_t i = 0; i < children.size(); ++i) {
      if (!is(children[i].begin, {"r"})) continue;
      for (const Child part : children_of(children[i].begin)) {
        if (is(part.begin, {"instrText"}) && !open.empty() && part.end == part.begin + 3)
          unfinished[open.back()].is_link =
              unfinished[open.back()].is_link ||
              markup_.text(markup_.tokens[part.begin + 1]).find("HYPERLINK") != std::string_view::npos;
        if (!is(part.begin, {"fldChar"})) continue;
        const auto type =
            attribute_value(markup_, markup_.tokens[part.begin], lower_name(dialect_.prefix + "fldchartype"));
        if (type == "begin") {
          open.push_back(i);
          unfinished[i] = {};
        } else if (type == "separate" && !open.empty()) {
          unfinished[open.back()].separate = i;
        } else if (type == "end" && !open.empty()) {
          const size_t begin = open.back();
          open.pop_back();
          if (!fields[begin].is_link && fields[begin].end != kNone) continue;
          fields[begin] = unfinished[begin];
          fields[begin].end = i;
          // A field within one run, or whose result begins with it, is kept whole.
          if (fields[begin].separate == kNone || fields[begin].separate >= i) fields[begin].is_link = false;
        }
      }
    }
    return fields;
  }

  const MarkupTokens& markup_;
  const OfficeDialect& dialect_;
  std::vector<Segment>& out_;
  size_t open_links_ = 0;
};

}  // namespace

void collect_office_paragraphs(const MarkupTokens& markup, const OfficeDialect& dialect, std::vector<Segment>& out) {
  OfficeParagraphs(markup, dialect, out).collect(0, markup.tokens.size());
}

namespace {

/// The prefix that the root element gives to a namespace, with its colon: "w:".
std::string namespace_prefix(const MarkupTokens& markup, std::string_view part_of_name, const std::string& usual) {
  for (const auto& token : markup.tokens) {
    if (token.kind != TokenKind::kStartTag) continue;
    for (const auto& attribute : attributes_of(markup, token)) {
      const std::string_view name = markup.text(attribute.name), value = markup.text(attribute.value);
      if (value.find(part_of_name) == value.npos || !value.ends_with("/main")) continue;
      if (name == "xmlns") return "";
      if (name.starts_with("xmlns:")) return std::string(name.substr(6)) + ":";
    }
    break;
  }
  return usual;
}

std::unique_ptr<TextDocument> read_part(const ZipArchive& archive, const std::string& name, std::string_view space,
                                        const std::string& usual_prefix, const std::string& text_attributes,
                                        const DocumentLimits& limits) {
  auto document = std::make_unique<TextDocument>(archive.read(name));
  const auto markup = tokenize_xml(document->bytes(), limits.depth, name);
  const OfficeDialect dialect = {namespace_prefix(markup, space, usual_prefix), text_attributes};
  const std::string& prefix = dialect.prefix;
  document->run_form = {.run_open = "<" + prefix + "r>",
                        .text_open = "<" + prefix + "t" + dialect.text_attributes + ">",
                        .text_close = "</" + prefix + "t>",
                        .run_close = "</" + prefix + "r>"};
  collect_office_paragraphs(markup, dialect, document->segments);
  return document;
}

/// The parts that a part is related to in one of these ways ("header"), or those of the package where `part` is empty.
std::vector<std::string> related(const ZipArchive& archive, const std::string& part,
                                 std::initializer_list<std::string_view> ways, const DocumentLimits& limits) {
  const size_t name_begin = part.rfind('/') + 1;  // 0 where there is no folder
  const std::string list = part.substr(0, name_begin) + "_rels/" + part.substr(name_begin) + ".rels";
  std::vector<std::string> found;
  if (!archive.has(list)) return found;
  const std::string bytes = archive.read(list);
  const auto markup = tokenize_xml(bytes, limits.depth, list);
  for (const auto& token : markup.tokens) {
    const bool is_tag = token.kind == TokenKind::kStartTag || token.kind == TokenKind::kEmptyTag;
    if (!is_tag || local_name(markup.name(token)) != "Relationship") continue;
    const auto type = attribute_text(markup, token, "type");
    const std::string name = resolved(part, attribute_text(markup, token, "target"));
    for (const auto way : ways)
      if (type.substr(type.rfind('/') + 1) == way && archive.has(name)) found.push_back(name);
  }
  return found;
}

/// The part that holds the document.
std::string main_part(const ZipArchive& archive, std::string_view kind, const DocumentLimits& limits) {
  const auto found = related(archive, "", {"officeDocument"}, limits);
  if (found.empty())
    throw Error(fmt::format("the document has no main part (_rels/.rels names none); save it as {}", kind));
  return found.front();
}

}  // namespace

std::vector<PackagedPart> read_docx(const ZipArchive& archive, const DocumentLimits& limits) {
  const std::string document = main_part(archive, ".docx", limits);
  std::set<std::string> names = {document};
  for (auto& name : related(archive, document, {"header", "footer", "footnotes", "endnotes", "comments"}, limits))
    names.insert(std::move(name));
  std::vector<PackagedPart> parts;
  for (const auto& name : names)
    parts.push_back({name, read_part(archive, name, "wordprocessingml", "w:", " xml:space=\"preserve\"", limits)});
  return parts;
}

std::vector<PackagedPart> read_pptx(const ZipArchive& archive, const DocumentLimits& limits) {
  const auto listed = related(archive, main_part(archive, ".pptx", limits), {"slide"}, limits);
  const std::set<std::string> slides(listed.begin(), listed.end());
  std::set<std::string> names = slides;
  for (const auto& slide : slides)
    for (auto& name : related(archive, slide, {"notesSlide", "diagramData"}, limits)) names.insert(std::move(name));
  std::vector<PackagedPart> parts;
  for (const auto& name : names) parts.push_back({name, read_part(archive, name, "drawingml", "a:", "", limits)});
  return parts;
}

}  // namespace nmt::documents
