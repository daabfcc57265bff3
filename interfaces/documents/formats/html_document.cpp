
#include <algorithm>
#include <functional>
#include <initializer_list>
#include <optional>
#include <string>
#include <vector>

#include "base/error.h"
#include "documents/formats/formats.h"
#include "documents/segments/segment.h"
#include "documents/segments/segment_collector.h"
#include "documents/tokens/html_tokenizer.h"
#include "documents/tokens/xml_tokenizer.h"

namespace nmt::documents {
namespace {

bool is_any(std::string_view word, std::initializer_list<std::string_view> words) {
  return std::ranges::find(words, word) != words.end();
}

/// What translate= and class= of a tag say; nullopt: nothing.
std::optional<bool> wants_translation(const MarkupTokens& markup, const Token& tag) {
  bool has_class = false;
  for (const auto& attribute : attributes_of(markup, tag)) {
    const std::string name = lower_name(markup.text(attribute.name));
    const std::string value = lower_name(markup.text(attribute.value));
    if (name == "translate" && (value == "yes" || value.empty())) return true;
    if (name == "translate" && value == "no") return false;
    if (name != "class") continue;
    const std::string words = " " + value + " ";
    for (const char before : {' ', '\t', '\n', '\r'})
      for (const char after : {' ', '\t', '\n', '\r'})
        has_class = has_class || words.find(before + std::string("notranslate") + after) != words.npos;
  }
  return has_class ? std::optional(false) : std::nullopt;
}

/// The number of a footnote, an exponent: no word to translate with the one that it stands at.
bool holds_no_letter(const MarkupTokens& markup, const Token& start) {
  if (start.kind != TokenKind::kStartTag) return false;
  for (size_t i = static_cast<size_t>(&start - markup.tokens.data()) + 1; i < start.content_end; ++i)
    if (markup.tokens[i].kind == TokenKind::kText && has_letter(markup.text(markup.tokens[i]))) return false;
  return true;
}

ElementRole html_role(const MarkupTokens& markup, size_t index, bool in_text) {
  const Token& tag = markup.tokens[index];
  const std::string name = lower_name(markup.name(tag));
  const auto wanted = wants_translation(markup, tag);
  const bool is_block = is_block_element(name);
  if (!in_text) return wanted == true && !is_raw_text_element(name) ? ElementRole::kBlock : ElementRole::kContainer;
  const bool is_kept = wanted ? !*wanted || is_raw_text_element(name) : is_kept_element(name);
  if (is_kept && name != "title") return is_block ? ElementRole::kContainer : ElementRole::kUnit;
  if (wanted == false) return ElementRole::kContainer;
  if (name == "br") return ElementRole::kSpace;
  if (name == "rt" || name == "rp" || name == "rtc") return ElementRole::kUnit;
  if (name == "sup" && holds_no_letter(markup, tag)) return ElementRole::kUnit;
  if (is_block) return ElementRole::kBlock;
  return is_void_element(name) ? ElementRole::kUnit : ElementRole::kInline;
}

/// Whether an attribute says something to a reader; names in lower case.
bool is_text_attribute(const MarkupTokens& markup, const Token& tag, std::string_view element, std::string_view name) {
  if (is_any(name, {"alt", "title", "placeholder", "aria-label"})) return true;
  if (name == "label") return is_any(element, {"option", "optgroup", "track"});
  if (name == "value" && element == "input")
    return is_any(lower_name(attribute_value(markup, tag, "type").value_or("")), {"submit", "button", "reset"});
  return name == "content" && element == "meta" &&
         lower_name(attribute_value(markup, tag, "name").value_or("")) == "description";
}

std::vector<Attribute> html_text_attributes(const MarkupTokens& markup, size_t index, bool in_text) {
  const Token& tag = markup.tokens[index];
  const std::string name = lower_name(markup.name(tag));
  std::vector<Attribute> found;
  for (const auto& attribute : attributes_of(markup, tag))
    if (is_text_attribute(markup, tag, name, lower_name(markup.text(attribute.name)))) found.push_back(attribute);
  if (found.empty()) return found;
  const bool is_left_out = is_kept_element(name) && name != "textarea";
  if (!wants_translation(markup, tag).value_or(in_text && !is_left_out)) found.clear();
  return found;
}

}  // namespace

MarkupRules html_rules(EntitySet entities) {
  const auto is_named = [](std::initializer_list<std::string_view> names) {
    return [names = std::vector<std::string_view>(names)](const MarkupTokens& markup, size_t token) {
      return std::ranges::find(names, lower_name(markup.name(markup.tokens[token]))) != names.end();
    };
  };
  return {.entities = entities,
          .role = html_role,
          .text_attributes = html_text_attributes,
          .is_link = is_named({"a", "label"}),
          .is_object = is_named(
              {"input", "select", "textarea", "meter", "progress", "img", "svg", "picture", "iframe", "embed"}),
          .begins_word = std::not_fn(is_named({"sub", "sup", "wbr", "rt", "rp"}))};
}

std::unique_ptr<TextDocument> read_html(std::string_view bytes, const DocumentLimits& limits) {
  check_utf8(bytes, "HTML");
  auto document = std::make_unique<TextDocument>(std::string(bytes));
  const auto markup = tokenize_html(document->bytes(), limits.depth);
  collect_segments(markup, html_rules(EntitySet::kHtml), 0, markup.tokens.size(), true, document->segments);
  return document;
}

std::unique_ptr<TextDocument> read_xhtml(std::string_view bytes, const std::string& name,
                                         const DocumentLimits& limits) {
  auto document = std::make_unique<TextDocument>(std::string(bytes));
  const auto markup = tokenize_xml(document->bytes(), limits.depth, name);
  collect_segments(markup, html_rules(EntitySet::kXhtml), 0, markup.tokens.size(), true, document->segments);
  return document;
}

std::unique_ptr<TextDocument> read_xhtml_or_html(std::string_view bytes, const DocumentLimits& limits) {
  try {
    // HTML has no <script/>: all behind it would be script.
    return read_xhtml(bytes, "XHTML", limits);
  } catch (const Error&) {
    return read_html(bytes, limits);
  }
}

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
  rules.begins_word = [](const MarkupTokens&, size_t) { return true; };
  rules.has_xml_space = true;
  rules.role = [&](const MarkupTokens&, size_t token, bool in_text) {
    if (kept[token]) return in_text ? ElementRole::kUnit : ElementRole::kContainer;
    if (in_text) return ElementRole::kInline;
    return has_text[token] ? ElementRole::kBlock : ElementRole::kContainer;
  };
  collect_segments(markup, rules, 0, markup.tokens.size(), false, document->segments);
  return document;
}

}  // namespace nmt::documents
