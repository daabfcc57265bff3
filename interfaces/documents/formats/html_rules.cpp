#include "documents/formats/html_rules.h"

#include <optional>
#include <string>

#include "documents/segments/plain_words.h"
#include "documents/tokens/html_elements.h"

namespace nmt::documents {
namespace {

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

std::vector<Attribute> html_text_attributes(const MarkupTokens& markup, size_t index, bool in_text) {
  const Token& tag = markup.tokens[index];
  std::vector<Attribute> found;
  for (const auto& attribute : attributes_of(markup, tag)) {
    const std::string name = lower_name(markup.text(attribute.name));
    if (name == "alt" || name == "title" || name == "placeholder") found.push_back(attribute);
  }
  if (found.empty()) return found;
  const std::string name = lower_name(markup.name(tag));
  const bool is_left_out = is_kept_element(name) && name != "textarea";
  if (!wants_translation(markup, tag).value_or(in_text && !is_left_out)) found.clear();
  return found;
}

}  // namespace

MarkupRules html_rules(EntitySet entities) {
  return {.entities = entities, .role = html_role, .text_attributes = html_text_attributes};
}

}  // namespace nmt::documents
