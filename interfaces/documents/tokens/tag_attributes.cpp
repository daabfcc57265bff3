#include "documents/tokens/tag_attributes.h"

namespace nmt::documents {

size_t scan_tag(std::string_view document, size_t begin, std::vector<Attribute>* attributes) {
  size_t i = begin;
  const size_t size = document.size();
  while (i < size) {
    const char c = document[i];
    if (c == '>') return i + 1;
    if (is_markup_space(c) || c == '/') {
      ++i;
      continue;
    }
    Attribute attribute;
    attribute.name.begin = i++;  // whatever it is: a name may begin with '='
    while (i < size && !is_markup_space(document[i]) && document[i] != '/' && document[i] != '>' && document[i] != '=')
      ++i;
    attribute.name.end = i;
    attribute.value = {i, i};
    size_t after = i;
    while (after < size && is_markup_space(document[after])) ++after;
    if (after < size && document[after] == '=') {
      i = after + 1;
      while (i < size && is_markup_space(document[i])) ++i;
      if (i == size) return kNone;
      attribute.has_value = true;
      if (document[i] == '"' || document[i] == '\'') {
        attribute.quote = document[i++];
        attribute.value.begin = i;
        i = document.find(attribute.quote, i);
        if (i == document.npos) return kNone;
        attribute.value.end = i++;
      } else {
        attribute.value.begin = i;
        while (i < size && !is_markup_space(document[i]) && document[i] != '>') ++i;
        attribute.value.end = i;
      }
    }
    if (attributes) attributes->push_back(attribute);
  }
  return kNone;
}

std::vector<Attribute> attributes_of(const MarkupTokens& markup, const Token& tag) {
  std::vector<Attribute> attributes;
  scan_tag(markup.document.substr(0, tag.bytes.end), tag.name.end, &attributes);
  return attributes;
}

std::optional<std::string_view> attribute_value(const MarkupTokens& markup, const Token& tag, std::string_view name) {
  for (const auto& attribute : attributes_of(markup, tag))
    if (lower_name(markup.text(attribute.name)) == name) return markup.text(attribute.value);
  return std::nullopt;
}

}  // namespace nmt::documents
