#pragma once

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "documents/tokens/html_tokenizer.h"
#include "documents/tokens/markup_token.h"

/// What must be the same before a translation and after it.
namespace nmt::test {

/// A tag without the values of the attributes that are text.
inline std::string tag_without_texts(const documents::MarkupTokens& tokens, const documents::Token& tag) {
  std::string out = documents::lower_name(tokens.name(tag));
  for (const auto& attribute : documents::attributes_of(tokens, tag)) {
    const std::string name = documents::lower_name(tokens.text(attribute.name));
    const bool is_text = name == "alt" || name == "title" || name == "placeholder";
    out += " " + name + "=" + (is_text ? std::string() : std::string(tokens.text(attribute.value)));
  }
  return out;
}

/// Tags, comments and all else that is no text, in the order of the alphabet.
inline std::vector<std::string> tags_of(const documents::MarkupTokens& tokens) {
  std::vector<std::string> tags;
  for (const auto& token : tokens.tokens) {
    if (token.kind == documents::TokenKind::kText || token.kind == documents::TokenKind::kCdata) continue;
    const bool is_tag = token.kind != documents::TokenKind::kOther && token.kind != documents::TokenKind::kRawText;
    tags.push_back((token.kind == documents::TokenKind::kEndTag ? "/" : "") +
                   (is_tag ? tag_without_texts(tokens, token) : std::string(tokens.text(token))));
  }
  std::sort(tags.begin(), tags.end());
  return tags;
}

/// Whether each start tag has its end tag and each end tag its start tag.
inline bool is_well_nested(const documents::MarkupTokens& tokens) {
  return std::all_of(tokens.tokens.begin(), tokens.tokens.end(), [](const documents::Token& token) {
    const bool has_partner =
        token.kind == documents::TokenKind::kStartTag || token.kind == documents::TokenKind::kEndTag;
    return !has_partner || token.partner != kNone;
  });
}

}  // namespace nmt::test
