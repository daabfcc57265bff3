#include "documents/tokens/xml_tokenizer.h"

#include <expat.h>
#include <fmt/format.h>

#include <algorithm>
#include <climits>
#include <exception>
#include <memory>
#include <vector>

#include "base/error.h"
#include "base/unicode.h"
#include "documents/tokens/markup_token.h"

namespace nmt::documents {
namespace {

/// Expat says where each tag and comment stands; what lies between them is text.
class XmlTokenizer {
 public:
  XmlTokenizer(std::string_view document, size_t most_depth, const std::string& name)
      : most_depth_(most_depth), name_(name), parser_(XML_ParserCreate("UTF-8"), XML_ParserFree) {
    if (!parser_) throw MachineError("out of memory for XML");
    out_.document = document;
    set_handlers(parser_.get());
  }

  MarkupTokens tokens() {
    check_encoding();
    const std::string_view document = out_.document;
    if (const size_t mark = byte_order_mark_length(document); mark > 0) add(TokenKind::kOther, 0, mark);
    // Entities of HTML are declared outside of the document, which is not read.
    if (document.find("<!DOCTYPE") != document.npos) XML_UseForeignDTD(parser_.get(), XML_TRUE);
    const auto status = XML_Parse(parser_.get(), document.data(), static_cast<int>(document.size()), XML_TRUE);
    if (failure_) std::rethrow_exception(failure_);
    if (status != XML_STATUS_OK) refuse();
    add_text(document.size());
    return std::move(out_);
  }

 private:
  template <auto handler, typename... Arguments>
  static void call(void* self, Arguments... arguments) {
    auto& tokenizer = *static_cast<XmlTokenizer*>(self);
    if (tokenizer.failure_) return;
    // No exception can pass through expat.
    try {
      (tokenizer.*handler)(arguments...);
    } catch (...) {
      tokenizer.failure_ = std::current_exception();
      XML_StopParser(tokenizer.parser_.get(), XML_FALSE);
    }
  }

  void set_handlers(XML_Parser parser) {
    XML_SetUserData(parser, this);
    XML_SetElementHandler(
        parser, [](void* self, const XML_Char*, const XML_Char**) { call<&XmlTokenizer::start_element>(self); },
        [](void* self, const XML_Char*) { call<&XmlTokenizer::end_element>(self); });
    XML_SetCdataSectionHandler(
        parser, [](void* self) { call<&XmlTokenizer::start_cdata>(self); },
        [](void* self) { call<&XmlTokenizer::end_cdata>(self); });
    XML_SetCommentHandler(parser, [](void* self, const XML_Char*) { call<&XmlTokenizer::add_other>(self); });
    XML_SetProcessingInstructionHandler(
        parser, [](void* self, const XML_Char*, const XML_Char*) { call<&XmlTokenizer::add_other>(self); });
    XML_SetXmlDeclHandler(parser, [](void* self, const XML_Char*, const XML_Char* encoding, int) {
      call<&XmlTokenizer::add_declaration>(self, encoding);
    });
    XML_SetDoctypeDeclHandler(
        parser,
        [](void* self, const XML_Char*, const XML_Char*, const XML_Char*, int) {
          call<&XmlTokenizer::start_document_type>(self);
        },
        [](void* self) { call<&XmlTokenizer::end_document_type>(self); });
    XML_SetEntityDeclHandler(
        parser, [](void* self, const XML_Char*, int, const XML_Char*, int, const XML_Char*, const XML_Char*,
                   const XML_Char*, const XML_Char*) { call<&XmlTokenizer::refuse_entity>(self); });
  }

  Error wrong(size_t byte, const std::string& what) const {
    return Error(fmt::format("{}, line {}: {}; correct the file", name_, line_of(out_.document, byte), what));
  }

  void check_encoding() const {
    const std::string_view document = out_.document;
    if (document.size() > INT_MAX) throw Error(fmt::format("{}: it has more than 2 GB; send it in parts", name_));
    if (document.starts_with("\xFF\xFE") || document.starts_with("\xFE\xFF"))
      throw Error(fmt::format("{}: it is UTF-16; save it as UTF-8", name_));
    if (const auto byte = find_invalid_utf8(document))
      throw Error(fmt::format("{}, line {}: byte {} is not UTF-8; save it as UTF-8", name_, line_of(document, *byte),
                              *byte + 1));
  }

  size_t event_begin() const { return static_cast<size_t>(XML_GetCurrentByteIndex(parser_.get())); }
  size_t event_end() const { return event_begin() + static_cast<size_t>(XML_GetCurrentByteCount(parser_.get())); }

  void add_text(size_t end) {
    if (end > at_) add(TokenKind::kText, at_, end);
  }

  /// What lies before it, too.
  Token& add(TokenKind kind, size_t begin, size_t end) {
    if (begin > at_) out_.tokens.push_back({.kind = TokenKind::kText, .bytes = {at_, begin}});
    out_.tokens.push_back({.kind = kind, .bytes = {begin, end}});
    at_ = end;
    return out_.tokens.back();
  }

  void add_other() {
    if (!in_document_type_) add(TokenKind::kOther, event_begin(), event_end());
  }

  void add_declaration(const XML_Char* encoding) {
    const std::string name = lower_name(encoding ? encoding : "utf-8");
    if (name != "utf-8" && name != "utf8" && name != "us-ascii")
      throw Error(fmt::format("{}: its encoding is {}; save it as UTF-8", name_, name));
    add_other();
  }

  void start_document_type() { in_document_type_ = true; }

  /// Only spaces can stand before it.
  void end_document_type() {
    in_document_type_ = false;
    add(TokenKind::kOther, out_.document.find('<', at_), event_end());
  }

  /// Entities grow without limits and name files.
  void refuse_entity() const {
    throw Error(
        fmt::format("{}, line {}: the document type defines entities, which are not read; write their text in their "
                    "place",
                    name_, XML_GetCurrentLineNumber(parser_.get())));
  }

  void start_cdata() { cdata_begin_ = event_begin(); }
  void end_cdata() { add(TokenKind::kCdata, cdata_begin_, event_end()); }

  ByteRange name_at(size_t begin) const {
    return {begin, std::min(out_.document.find_first_of(" \t\r\n/>", begin), out_.document.size())};
  }

  void start_element() {
    const size_t begin = event_begin(), end = event_end();
    const bool is_empty = out_.document[end - 2] == '/';
    add(is_empty ? TokenKind::kEmptyTag : TokenKind::kStartTag, begin, end).name = name_at(begin + 1);
    if (is_empty) return;
    if (open_.size() >= most_depth_) throw wrong(begin, fmt::format("elements are nested deeper than {}", most_depth_));
    open_.push_back(out_.tokens.size() - 1);
  }

  void end_element() {
    const size_t begin = event_begin(), end = event_end();
    if (begin == end) return;  // of an empty tag
    Token& token = add(TokenKind::kEndTag, begin, end);
    token.name = name_at(begin + 2);
    token.partner = open_.back();
    Token& start = out_.tokens[open_.back()];
    start.partner = start.content_end = out_.tokens.size() - 1;
    open_.pop_back();
  }

  /// Says which element is meant where an end tag is missing or is of another element.
  [[noreturn]] void refuse() const {
    size_t at = std::min(event_begin(), out_.document.size());
    // Expat points at the slash or the name of a wrong end tag.
    if (const size_t tag = out_.document.rfind("</", at); tag != out_.document.npos && tag + 2 >= at) at = tag;
    const auto code = XML_GetErrorCode(parser_.get());
    const auto name_of = [&](size_t open) { return out_.name(out_.tokens[open]); };
    if (out_.document.substr(at).starts_with("</") && (open_.empty() || code == XML_ERROR_TAG_MISMATCH)) {
      const auto name = out_.text(name_at(at + 2));
      if (std::ranges::find(open_, name, name_of) == open_.end())
        throw wrong(at, fmt::format("</{}> closes no element", name));
      throw wrong(out_.tokens[open_.back()].bytes.begin,
                  fmt::format("<{}> is not closed before </{}>", name_of(open_.back()), name));
    }
    if (code == XML_ERROR_NO_ELEMENTS && !open_.empty())
      throw wrong(out_.tokens[open_.back()].bytes.begin, fmt::format("<{}> is not closed", name_of(open_.back())));
    throw wrong(at, XML_ErrorString(code));
  }

  MarkupTokens out_;
  size_t most_depth_, at_ = 0, cdata_begin_ = 0;
  const std::string& name_;
  std::vector<size_t> open_;
  bool in_document_type_ = false;
  std::exception_ptr failure_;
  std::unique_ptr<XML_ParserStruct, decltype(&XML_ParserFree)> parser_;
};

}  // namespace

MarkupTokens tokenize_xml(std::string_view document, size_t most_depth, const std::string& name) {
  return XmlTokenizer(document, most_depth, name).tokens();
}

}  // namespace nmt::documents
