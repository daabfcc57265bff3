#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "text/codec/codec.h"
#include "translation/lines/source_parts.h"

namespace nmt {

/// What the translation of a part of a line begins with.
struct PartPrefix {
  std::string text = {};
  bool is_whole = false;  ///< it is all of the part's translation: the prefix goes on in the next part
};

/// Divides the prefix of a line among the parts of it, in their order: a part that ends a sentence gets as many
/// sentences of the prefix as it has, one that is cut within a sentence as many words of it as have no more pieces than
/// the part. The first that is not whole gets the rest, which may be empty, and nothing is for those behind it. What is
/// given adds up to the prefix.
std::vector<PartPrefix> divide_prefix(std::string_view prefix, std::span<const SourcePart> parts,
                                      const TextCodec& codec);

}  // namespace nmt
