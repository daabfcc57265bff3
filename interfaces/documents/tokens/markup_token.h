#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "text/aligned_translation.h"

namespace nmt::documents {

enum class TokenKind : uint8_t {
  kText,
  kRawText,  ///< of <script> and its like: no entities, no tags
  kCdata,
  kStartTag,
  kEmptyTag,  ///< has no content: <br>, <a/>
  kEndTag,
  kOther,  ///< comments, processing instructions, the document type, what breaks off at the end
};

struct Token {
  TokenKind kind = TokenKind::kText;
  ByteRange bytes = {}, name = {};  ///< the name of tags only, as it is written
  /// The tag on the other side; kNone where it is missing.
  size_t partner = kNone;
  /// The token that ends the content of a start tag. It is the partner, or what implied the end.
  size_t content_end = kNone;
};

/// A document cut into tokens. Every byte belongs to one of them, so what is not changed is copied as it was.
struct MarkupTokens {
  std::string_view document;
  std::vector<Token> tokens;

  std::string_view text(ByteRange range) const { return document.substr(range.begin, range.size()); }
  std::string_view text(const Token& token) const { return text(token.bytes); }
  std::string_view name(const Token& token) const { return text(token.name); }
};

constexpr bool is_markup_space(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\f'; }
constexpr bool is_ascii_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

/// ASCII letters in lower case: names of HTML.
inline std::string lower_name(std::string_view name) {
  std::string lower(name);
  for (char& c : lower)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  return lower;
}

/// The part of a name behind the prefix: "p" of "w:p".
inline std::string_view local_name(std::string_view name) {
  const size_t colon = name.find(':');
  return colon == name.npos ? name : name.substr(colon + 1);
}

/// The number of the line that holds a byte, from 1.
inline size_t line_of(std::string_view document, size_t byte) {
  size_t line = 1;
  for (const char c : document.substr(0, byte)) line += c == '\n';
  return line;
}

enum class EntitySet : uint8_t {
  kXml,    ///< the five of XML and numbers
  kHtml,   ///< the names of HTML 4, too; old ones may lack their semicolon
  kXhtml,  ///< the same names: in books their document type declares them
};

struct DecodedEntity {
  char32_t code = 0;
  size_t length = 0;  ///< bytes of the text; 0: it is no entity
};

/// The entity that the '&' at the beginning of `text` begins.
DecodedEntity decode_entity(std::string_view text, EntitySet set);

/// Entities that are not known stay as they are.
std::string decode_entities(std::string_view text, EntitySet set);

/// Encodes & < > and the quote, where there is one.
std::string encode_entities(std::string_view text, char quote = '\0');

struct Attribute {
  ByteRange name;
  ByteRange value;    ///< without its quotes; empty where there is none
  char quote = '\0';  ///< '\0': without quotes
  bool has_value = false;
};

/// Where the tag ends whose name ends at `begin`: behind its '>', or kNone if the document ends first. A '>' in quotes
/// does not end it. `attributes` may be null.
size_t scan_tag(std::string_view document, size_t begin, std::vector<Attribute>* attributes);

std::vector<Attribute> attributes_of(const MarkupTokens& markup, const Token& tag);

/// The value of the first attribute with this name, as it is written; names of HTML have no case.
std::optional<std::string_view> attribute_value(const MarkupTokens& markup, const Token& tag, std::string_view name);

}  // namespace nmt::documents
