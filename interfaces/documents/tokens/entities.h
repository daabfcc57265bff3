#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace nmt::documents {

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

}  // namespace nmt::documents
