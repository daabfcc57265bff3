#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "documents/tokens/markup_token.h"

namespace nmt::documents {

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
