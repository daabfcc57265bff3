#include "documents/tokens/xml_tokenizer.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "base/error.h"
#include "base/unicode.h"
#include "documents/tokens/markup_token.h"

namespace nmt::documents {
namespace {

constexpr bool begins_xml_name(char c) {
  return is_ascii_letter(c) || c == '_' || c == ':' || static_cast<unsigned char>(c) >= 0x80;
}
constexpr bool is_in_xml_name(char c) { return begins_xml_name(c) || (c >= '0' && c <= '9') || c == '-' || c == '.'; }

class XmlTokenizer {
 public:
  XmlTokenizer(std::string_view document, size_t most_depth, const std::string& name)
      : document_(document), most_depth_(most_depth), name_(name) {
    out_.document = document;
  }

  MarkupTokens tokens() {
    check_characters();
    if (const size_t mark = byte_order_mark_length(document_); mark > 0) add(TokenKind::kOther, mark);
    check_encoding();
    while (at_ < document_.size()) {
      const size_t tag = std::min(document_.find('<', at_), document_.size());
      if (tag > at_) add_text(tag);
      if (at_ < document_.size()) add_markup();
    }
    if (!open_.empty()) {
      const auto& tag = out_.tokens[open_.back()];
      throw wrong(tag.bytes.begin, fmt::format("<{}> is not closed", out_.name(tag)));
    }
    if (!has_root_) throw wrong(0, "no element is in it");
    return std::move(out_);
  }

 private:
  Error wrong(size_t byte, const std::string& what) const {
    return Error(fmt::format("{}, line {}: {}; mend the file", name_, line_of(document_, byte), what));
  }

  void check_characters() const {
    if (document_.starts_with("\xFF\xFE") || document_.starts_with("\xFE\xFF"))
      throw Error(fmt::format("{}: it is UTF-16; save it as UTF-8", name_));
    if (const auto byte = find_invalid_utf8(document_))
      throw Error(fmt::format("{}, line {}: byte {} is not UTF-8; save it as UTF-8", name_, line_of(document_, *byte),
                              *byte + 1));
    for (size_t i = 0; i < document_.size(); ++i)
      if (static_cast<unsigned char>(document_[i]) < 0x20 && !is_markup_space(document_[i]))
        throw wrong(i, "a control character");
    if (const size_t feed = document_.find('\f'); feed != document_.npos) throw wrong(feed, "a control character");
  }

  void check_encoding() const {
    const std::string_view rest = document_.substr(at_);
    if (!rest.starts_with("<?xml ")) return;
    const std::string_view declaration = rest.substr(0, rest.find("?>"));
    const size_t found = declaration.find("encoding");
    if (found == declaration.npos) return;
    const size_t begin = declaration.find_first_of("\"'", found);
    if (begin == declaration.npos) return;
    const size_t end = declaration.find(declaration[begin], begin + 1);
    if (end == declaration.npos) return;
    const std::string encoding = lower_name(declaration.substr(begin + 1, end - begin - 1));
    if (encoding != "utf-8" && encoding != "utf8" && encoding != "us-ascii")
      throw Error(fmt::format("{}: its encoding is {}; save it as UTF-8", name_, encoding));
  }

  Token& add(TokenKind kind, size_t end) {
    out_.tokens.push_back({.kind = kind, .bytes = {at_, end}});
    at_ = end;
    return out_.tokens.back();
  }

  size_t behind(std::string_view mark, size_t from, const char* what) const {
    const size_t found = document_.find(mark, from);
    if (found == document_.npos) throw wrong(at_, fmt::format("{} does not end", what));
    return found + mark.size();
  }

  void check_references(ByteRange range) const {
    const std::string_view text = out_.text(range);
    for (size_t i = text.find('&'); i != text.npos; i = text.find('&', i + 1)) {
      size_t end = i + 1;
      if (end < text.size() && text[end] == '#') {
        const bool is_hexadecimal = ++end < text.size() && text[end] == 'x';
        const char* digits = is_hexadecimal ? "0123456789abcdefABCDEF" : "0123456789";
        const size_t begin = end += is_hexadecimal;
        end = std::min(text.find_first_not_of(digits, begin), text.size());
        if (end == begin) end = text.size();
      } else if (end < text.size() && begins_xml_name(text[end])) {
        while (end < text.size() && is_in_xml_name(text[end])) ++end;
        // Only a document type can define another one than the five.
        if (!has_document_type_ && decode_entity(text.substr(i, 8), EntitySet::kXml).length == 0) end = text.size();
      } else {
        end = text.size();
      }
      if (end >= text.size() || text[end] != ';') throw wrong(range.begin + i, "an & that begins no known entity");
    }
  }

  void add_text(size_t end) {
    const ByteRange range = {at_, end};
    const std::string_view text = out_.text(range);
    if (open_.empty() && !std::all_of(text.begin(), text.end(), is_markup_space))
      throw wrong(at_, "text outside of the root element");
    check_references(range);
    if (const size_t mark = text.find("]]>"); mark != text.npos) throw wrong(at_ + mark, "]]> in a text");
    add(TokenKind::kText, end);
  }

  void add_markup() {
    const std::string_view rest = document_.substr(at_);
    if (rest.starts_with("<!--")) {
      const size_t end = behind("-->", at_ + 4, "a comment");
      if (document_.substr(at_ + 4, end - at_ - 7).find("--") != document_.npos) throw wrong(at_, "-- in a comment");
      add(TokenKind::kOther, end);
    } else if (rest.starts_with("<![CDATA[")) {
      if (open_.empty()) throw wrong(at_, "text outside of the root element");
      add(TokenKind::kCdata, behind("]]>", at_ + 9, "a CDATA section"));
    } else if (rest.starts_with("<?")) {
      add(TokenKind::kOther, behind("?>", at_ + 2, "a processing instruction"));
    } else if (rest.starts_with("<!DOCTYPE")) {
      if (has_root_) throw wrong(at_, "a document type behind the root element begins");
      add(TokenKind::kOther, end_of_document_type());
      has_document_type_ = true;
    } else if (rest.starts_with("</")) {
      end_element();
    } else {
      start_element();
    }
  }

  /// Its internal part may define entities, which grow without limits and name files: it is refused then.
  size_t end_of_document_type() const {
    bool is_inside = false;
    for (size_t i = at_ + 9; i < document_.size(); ++i) {
      const char c = document_[i];
      if (document_.substr(i, 4) == "<!--") {
        i = behind("-->", i + 4, "a comment") - 1;
      } else if (document_.substr(i, 2) == "<?") {
        i = behind("?>", i + 2, "a processing instruction") - 1;
      } else if (document_.substr(i, 8) == "<!ENTITY") {
        throw Error(
            fmt::format("{}, line {}: the document type defines entities, which are not read; write their text in "
                        "their place",
                        name_, line_of(document_, i)));
      } else if (c == '%' && is_inside) {
        throw wrong(i, "the document type uses entities, which are not read");
      } else if (c == '"' || c == '\'') {
        i = document_.find(c, i + 1);
        if (i == document_.npos) break;
      } else if (c == '[') {
        is_inside = true;
      } else if (c == ']') {
        is_inside = false;
      } else if (c == '>' && !is_inside) {
        return i + 1;
      }
    }
    throw wrong(at_, "the document type does not end");
  }

  size_t end_of_name(size_t begin) const {
    size_t end = begin;
    if (end < document_.size() && begins_xml_name(document_[end]))
      while (end < document_.size() && is_in_xml_name(document_[end])) ++end;
    if (end == begin) throw wrong(at_, "a < that begins no tag");
    return end;
  }

  void start_element() {
    const ByteRange name = {at_ + 1, end_of_name(at_ + 1)};
    std::vector<std::string_view> names;
    size_t i = name.end;
    bool is_empty = false;
    while (true) {
      const size_t before = i;
      while (i < document_.size() && is_markup_space(document_[i])) ++i;
      if (i == document_.size()) throw wrong(at_, "a tag does not end");
      if (document_[i] == '>') break;
      if (document_[i] == '/' && i + 1 < document_.size() && document_[i + 1] == '>') {
        is_empty = true;
        ++i;
        break;
      }
      if (i == before) throw wrong(i, "an attribute without a space before it");
      i = attribute(i, names);
    }
    std::sort(names.begin(), names.end());
    if (std::adjacent_find(names.begin(), names.end()) != names.end()) throw wrong(at_, "an attribute stands twice");
    if (open_.empty() && has_root_) throw wrong(at_, "a second root element");
    has_root_ = true;
    Token& token = add(is_empty ? TokenKind::kEmptyTag : TokenKind::kStartTag, i + 1);
    token.name = name;
    if (is_empty) return;
    if (open_.size() >= most_depth_)
      throw wrong(token.bytes.begin, fmt::format("elements are nested deeper than {}", most_depth_));
    open_.push_back(out_.tokens.size() - 1);
  }

  /// The end of the attribute that begins at i.
  size_t attribute(size_t i, std::vector<std::string_view>& names) const {
    const size_t end = end_of_name(i);
    names.push_back(document_.substr(i, end - i));
    size_t value = end;
    while (value < document_.size() && is_markup_space(document_[value])) ++value;
    if (value == document_.size() || document_[value] != '=') throw wrong(i, "an attribute without a value");
    ++value;
    while (value < document_.size() && is_markup_space(document_[value])) ++value;
    if (value == document_.size() || (document_[value] != '"' && document_[value] != '\''))
      throw wrong(i, "an attribute without quotes");
    const size_t close = document_.find(document_[value], value + 1);
    if (close == document_.npos) throw wrong(i, "an attribute does not end");
    const ByteRange range = {value + 1, close};
    if (out_.text(range).find('<') != document_.npos) throw wrong(i, "a < in an attribute");
    check_references(range);
    return close + 1;
  }

  void end_element() {
    const ByteRange name = {at_ + 2, end_of_name(at_ + 2)};
    size_t i = name.end;
    while (i < document_.size() && is_markup_space(document_[i])) ++i;
    if (i == document_.size() || document_[i] != '>') throw wrong(at_, "a tag does not end");
    const size_t index = out_.tokens.size();
    if (open_.empty() || out_.name(out_.tokens[open_.back()]) != out_.text(name)) throw wrong_end(name);
    Token& token = add(TokenKind::kEndTag, i + 1);
    token.name = name;
    token.partner = open_.back();
    Token& start = out_.tokens[open_.back()];
    start.partner = start.content_end = index;
    open_.pop_back();
  }

  /// An end tag that is not of the innermost element: that one has none, or this one has no start.
  Error wrong_end(ByteRange name) const {
    const auto end = fmt::format("</{}>", out_.text(name));
    const auto is_of = [&](size_t open) { return out_.name(out_.tokens[open]) == out_.text(name); };
    if (std::ranges::none_of(open_, is_of)) return wrong(at_, end + " closes no element");
    const auto& inner = out_.tokens[open_.back()];
    return wrong(inner.bytes.begin, fmt::format("<{}> is not closed before {}", out_.name(inner), end));
  }

  MarkupTokens out_;
  std::string_view document_;
  size_t most_depth_, at_ = 0;
  const std::string& name_;
  std::vector<size_t> open_;
  bool has_root_ = false, has_document_type_ = false;
};

}  // namespace

MarkupTokens tokenize_xml(std::string_view document, size_t most_depth, const std::string& name) {
  return XmlTokenizer(document, most_depth, name).tokens();
}

}  // namespace nmt::documents
