#include "documents/formats/xml_document.h"

#include <optional>
#include <vector>

#include "documents/segments/plain_words.h"
#include "documents/segments/segment_collector.h"
#include "documents/tokens/xml_tokenizer.h"

namespace nmt::documents {
namespace {

/// For each token whether it is the start tag of an element with text of its own.
std::vector<bool> elements_with_text(const MarkupTokens& markup) {
  std::vector<bool> has_text(markup.tokens.size(), false);
  std::vector<size_t> open;
  for (size_t i = 0; i < markup.tokens.size(); ++i) {
    const Token& token = markup.tokens[i];
    if (token.kind == TokenKind::kStartTag) open.push_back(i);
    if (token.kind == TokenKind::kEndTag) open.pop_back();
    const bool is_text =
        token.kind == TokenKind::kCdata || (token.kind == TokenKind::kText && !is_white(markup.text(token)));
    if (is_text && !open.empty()) has_text[open.back()] = true;
  }
  return has_text;
}

std::optional<bool> translate_attribute(const MarkupTokens& markup, const Token& tag) {
  for (const auto& attribute : attributes_of(markup, tag)) {
    if (local_name(markup.text(attribute.name)) != "translate") continue;
    if (markup.text(attribute.value) == "no") return false;
    if (markup.text(attribute.value) == "yes") return true;
  }
  return std::nullopt;
}

/// Whether a tag is in an element that is kept, for each token.
std::vector<bool> kept_tokens(const MarkupTokens& markup) {
  std::vector<bool> kept(markup.tokens.size(), false), states = {false};
  for (size_t i = 0; i < markup.tokens.size(); ++i) {
    const Token& token = markup.tokens[i];
    if (token.kind == TokenKind::kEndTag) states.pop_back();
    bool state = states.back();
    if (token.kind == TokenKind::kStartTag || token.kind == TokenKind::kEmptyTag)
      state = !translate_attribute(markup, token).value_or(!state);
    if (token.kind == TokenKind::kStartTag) states.push_back(state);
    kept[i] = state;
  }
  return kept;
}

}  // namespace

std::unique_ptr<TextDocument> read_xml(std::string_view bytes, const std::string& name, const DocumentLimits& limits) {
  auto document = std::make_unique<TextDocument>(std::string(bytes));
  const auto markup = tokenize_xml(document->bytes(), limits.depth, name);
  const auto has_text = elements_with_text(markup), kept = kept_tokens(markup);
  MarkupRules rules;
  rules.role = [&](const MarkupTokens&, size_t token, bool in_text) {
    if (kept[token]) return in_text ? ElementRole::kUnit : ElementRole::kContainer;
    if (in_text) return ElementRole::kInline;
    return has_text[token] ? ElementRole::kBlock : ElementRole::kContainer;
  };
  collect_segments(markup, rules, 0, markup.tokens.size(), false, document->segments);
  return document;
}

}  // namespace nmt::documents
