#include "documents/tokens/html_tokenizer.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "base/error.h"
#include "documents/tokens/markup_token.h"

namespace nmt::documents {
namespace {

template <size_t size>
constexpr auto sorted(std::array<std::string_view, size> names) {
  std::sort(names.begin(), names.end());
  return names;
}

template <typename Names>
bool has(const Names& names, std::string_view name) {
  return std::binary_search(names.begin(), names.end(), name);
}

constexpr auto kVoid = sorted(
    std::to_array<std::string_view>({"area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta",
                                     "param", "source", "track", "wbr", "basefont", "bgsound", "frame", "keygen"}));

constexpr auto kRaw = sorted(std::to_array<std::string_view>(
    {"script", "style", "textarea", "title", "xmp", "iframe", "noembed", "noframes", "plaintext"}));

constexpr auto kBlock = sorted(std::to_array<std::string_view>(
    {"address", "applet",   "area",    "article",   "aside",    "audio",      "base",    "blockquote", "body",
     "button",  "canvas",   "caption", "center",    "col",      "colgroup",   "dd",      "details",    "dialog",
     "dir",     "div",      "dl",      "dt",        "fieldset", "figcaption", "figure",  "footer",     "form",
     "frame",   "frameset", "h1",      "h2",        "h3",       "h4",         "h5",      "h6",         "head",
     "header",  "hgroup",   "hr",      "html",      "legend",   "li",         "link",    "listing",    "main",
     "marquee", "menu",     "meta",    "nav",       "noframes", "noscript",   "object",  "ol",         "optgroup",
     "option",  "p",        "param",   "plaintext", "pre",      "search",     "section", "select",     "source",
     "summary", "table",    "tbody",   "td",        "template", "tfoot",      "th",      "thead",      "title",
     "tr",      "track",    "ul",      "video",     "xmp"}));

constexpr auto kClosesParagraph = sorted(std::to_array<std::string_view>(
    {"address",  "article",    "aside",  "blockquote", "center", "details", "dialog", "dir",     "div",       "dl",
     "fieldset", "figcaption", "figure", "footer",     "form",   "h1",      "h2",     "h3",      "h4",        "h5",
     "h6",       "header",     "hgroup", "hr",         "main",   "menu",    "nav",    "ol",      "p",         "pre",
     "search",   "section",    "table",  "ul",         "li",     "dd",      "dt",     "listing", "plaintext", "xmp"}));

constexpr auto kKept =
    sorted(std::to_array<std::string_view>({"code", "pre", "script", "style", "textarea", "svg", "math", "xmp",
                                            "listing", "plaintext", "iframe", "noembed", "noframes"}));

}  // namespace

bool is_void_element(std::string_view name) { return has(kVoid, name); }
bool is_raw_text_element(std::string_view name) { return has(kRaw, name); }
bool is_block_element(std::string_view name) { return has(kBlock, name); }
bool closes_paragraph(std::string_view name) { return has(kClosesParagraph, name); }
bool is_kept_element(std::string_view name) { return has(kKept, name); }

namespace {

bool is_one_of(std::string_view name, std::initializer_list<std::string_view> names) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

/// Names, each with a space before it and behind it.
bool holds_name(std::string_view names, std::string_view name) {
  for (size_t at = names.find(name); at != names.npos; at = names.find(name, at + 1))
    if (names[at - 1] == ' ' && names[at + name.size()] == ' ') return true;
  return false;
}

/// The elements that a start tag ends although their end tags are not there. What is outside of an element of `stops`
/// is not ended.
struct ImpliedEnds {
  std::string_view ended, stops;
};

ImpliedEnds implied_ends(std::string_view name) {
  if (name == "li") return {" li ", " ul ol menu dir table td th div "};
  if (is_one_of(name, {"dt", "dd"})) return {" dt dd ", " dl table td th "};
  if (is_one_of(name, {"td", "th"})) return {" td th ", " tr table template "};
  if (name == "tr") return {" tr ", " table template html "};
  if (is_one_of(name, {"tbody", "thead", "tfoot"}))
    return {" tbody thead tfoot colgroup caption ", " table template html "};
  if (name == "option") return {" option ", " select datalist optgroup "};
  if (name == "optgroup") return {" optgroup option ", " select "};
  if (is_one_of(name, {"rt", "rp"})) return {" rt rp ", " ruby "};
  if (name == "body") return {" head ", " html "};
  return {};
}

/// End tags of these reach no element outside of the nearest of those.
bool hides_outer_elements(std::string_view open, std::string_view ended) {
  if (is_one_of(open, {"td", "th", "caption"}))
    return !is_one_of(ended, {"table", "tr", "tbody", "thead", "tfoot", "body", "html"});
  return false;
}

class HtmlTokenizer {
 public:
  HtmlTokenizer(std::string_view document, size_t most_depth) : most_depth_(most_depth) { out_.document = document; }

  MarkupTokens tokens() {
    const std::string_view document = out_.document;
    while (at_ < document.size()) {
      const size_t tag = next_tag(at_);
      if (tag > at_) add(TokenKind::kText, tag);
      if (at_ < document.size()) add_tag();
    }
    close_down_to(0, out_.tokens.size());
    return std::move(out_);
  }

 private:
  struct Open {
    std::string name;
    size_t token;
  };

  /// The next '<' that begins something.
  size_t next_tag(size_t from) const {
    const std::string_view document = out_.document;
    for (size_t i = document.find('<', from); i != document.npos; i = document.find('<', i + 1)) {
      const char next = i + 1 < document.size() ? document[i + 1] : ' ';
      if (is_ascii_letter(next) || next == '/' || next == '!' || next == '?') return i;
    }
    return document.size();
  }

  Token& add(TokenKind kind, size_t end) {
    out_.tokens.push_back({.kind = kind, .bytes = {at_, end}});
    at_ = end;
    return out_.tokens.back();
  }

  size_t behind(std::string_view mark, size_t from) const {
    const size_t found = out_.document.find(mark, from);
    return found == out_.document.npos ? out_.document.size() : found + mark.size();
  }

  void add_tag() {
    const std::string_view document = out_.document, rest = document.substr(at_);
    const char next = rest.size() > 1 ? rest[1] : ' ';
    if (rest.starts_with("<!-->") || rest.starts_with("<!--->")) {
      add(TokenKind::kOther, behind(">", at_));
    } else if (rest.starts_with("<!--")) {
      add(TokenKind::kOther, behind("-->", at_ + 4));
    } else if (next == '!' || next == '?' || (next == '/' && (rest.size() < 3 || !is_ascii_letter(rest[2])))) {
      add(TokenKind::kOther, behind(">", at_));
    } else {
      const size_t name_begin = at_ + (next == '/' ? 2 : 1);
      size_t name_end = name_begin;
      while (name_end < document.size() && !is_markup_space(document[name_end]) && document[name_end] != '/' &&
             document[name_end] != '>')
        ++name_end;
      const size_t end = scan_tag(document, name_end, nullptr);
      if (end == kNone) {
        add(TokenKind::kOther, document.size());
        return;
      }
      Token& token = add(next == '/' ? TokenKind::kEndTag : TokenKind::kStartTag, end);
      token.name = {name_begin, name_end};
      if (next == '/')
        end_element();
      else
        start_element();
    }
  }

  void start_element() {
    const size_t index = out_.tokens.size() - 1;
    const std::string name = lower_name(out_.name(out_.tokens[index]));
    imply_ends(name, index);
    const bool is_raw = is_raw_text_element(name);
    const bool ends_itself = !is_raw && ends_with_slash(out_.tokens[index]);
    if (ends_itself || is_void_element(name)) {
      out_.tokens[index].kind = TokenKind::kEmptyTag;
      return;
    }
    if (open_.size() >= most_depth_)
      throw Error(
          fmt::format("HTML, line {}: elements are nested deeper than {}; close the elements that are left open",
                      line_of(out_.document, out_.tokens[index].bytes.begin), most_depth_));
    open_.push_back({name, index});
    if (is_raw) add_raw_text(name);
  }

  /// Whether a tag ends itself. The slash of <a b=c/> belongs to the value.
  bool ends_with_slash(const Token& tag) const {
    if (out_.document[tag.bytes.end - 2] != '/') return false;
    const auto attributes = attributes_of(out_, tag);
    return attributes.empty() || attributes.back().quote != '\0' || attributes.back().value.end + 1 != tag.bytes.end ||
           !attributes.back().has_value;
  }

  /// Up to the end tag of its name, or up to the end.
  void add_raw_text(const std::string& name) {
    const std::string_view document = out_.document;
    size_t end = document.size();
    for (size_t i = document.find("</", at_); i != document.npos && name != "plaintext";
         i = document.find("</", i + 2)) {
      const size_t behind_name = i + 2 + name.size();
      if (behind_name < document.size() && lower_name(document.substr(i + 2, name.size())) == name &&
          (is_markup_space(document[behind_name]) || document[behind_name] == '/' || document[behind_name] == '>')) {
        end = i;
        break;
      }
    }
    // The text of a title is text, although tags in it are none.
    if (end > at_) add(name == "title" ? TokenKind::kText : TokenKind::kRawText, end);
  }

  void imply_ends(const std::string& name, size_t index) {
    if (closes_paragraph(name)) {
      for (size_t i = open_.size(); i-- > 0;) {
        if (is_one_of(open_[i].name, {"td", "th", "caption", "table", "button", "object", "template", "html"})) break;
        if (open_[i].name == "p") {
          close_down_to(i, index);
          break;
        }
      }
    }
    const auto ends = implied_ends(name);
    if (ends.ended.empty()) return;
    for (size_t i = open_.size(); i-- > 0;) {
      if (holds_name(ends.stops, open_[i].name)) return;
      if (holds_name(ends.ended, open_[i].name)) {
        close_down_to(i, index);
        if (name != "optgroup") return;
      }
    }
  }

  void end_element() {
    const size_t index = out_.tokens.size() - 1;
    const std::string name = lower_name(out_.name(out_.tokens[index]));
    for (size_t i = open_.size(); i-- > 0;) {
      if (open_[i].name == name) {
        const size_t start = open_[i].token;
        close_down_to(i, index);
        out_.tokens[start].partner = index;
        out_.tokens[index].partner = start;
        return;
      }
      if (hides_outer_elements(open_[i].name, name)) return;
    }
  }

  /// The open elements from `depth` on end before this token.
  void close_down_to(size_t depth, size_t token) {
    while (open_.size() > depth) {
      out_.tokens[open_.back().token].content_end = token;
      open_.pop_back();
    }
  }

  MarkupTokens out_;
  size_t most_depth_, at_ = 0;
  std::vector<Open> open_;
};

}  // namespace

MarkupTokens tokenize_html(std::string_view document, size_t most_depth) {
  return HtmlTokenizer(document, most_depth).tokens();
}

}  // namespace nmt::documents
