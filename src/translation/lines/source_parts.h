#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "text/codec/codec.h"

namespace nmt {

/// A source line, or a part of it.
struct SourcePart {
  std::vector<std::vector<int32_t>> pieces = {};  ///< ids: a list for each codec
  std::string_view text = {};                     ///< a view of the line
  /// How many of the first codec's pieces, behind those of source_prefix, are of a tag that `text` does not have.
  int64_t repeated = 0;
};

/// What tells a model for several target languages which of them is wanted: ">>cs<< " at the beginning of a line.
struct LanguageTag {
  std::string_view text = {};  ///< with the white space behind it; empty: there is none
  int32_t piece = 0;
};

/// The tag of a line: only what is one piece of the codec's source vocabulary. It may be all of the line: there is
/// nothing to translate then.
LanguageTag leading_tag(const TextCodec& codec, std::string_view line);

/// Looks for lines without such a tag that a model with two target_languages() or more, and none of their tags in
/// source_prefix, is asked to translate.
class TagCheck {
 public:
  explicit TagCheck(const TextCodec& codec);
  /// What is wrong with a line, for a warning; nullopt: nothing.
  std::optional<std::string> problem_of(std::string_view line) const;

 private:
  const TextCodec& codec_;
  std::vector<std::string> languages_;  // of the model; none: no line needs a tag
};

/// A source line in parts of at most max_length pieces, whichever codec counts: one part, unless the line is longer. It
/// is then halved, again and again: after a sentence where one ends in the middle half, else at the space next to the
/// middle, else between two characters. None for a line of white space or one whose normal form is empty (for the first
/// codec). stopped: asked before each look at a text's pieces (seconds go by for a line of a million words); true ends
/// it with TranslationStopped. May be empty. tag: stands before each part (SourcePart::repeated).
std::vector<SourcePart> encode_in_parts(std::span<const TextCodec* const> codecs, std::string_view line,
                                        int64_t max_length, const std::function<bool()>& stopped = {},
                                        const LanguageTag& tag = {});

/// Where such a line is halved: the second half begins there. 0 if it is a single character.
size_t halving_point(std::string_view text);

/// What the translation of a part of a line begins with.
struct PartPrefix {
  std::string text = {};
  bool is_whole = false;  ///< it is all of the part's translation: the prefix continues in the next part
};

/// Divides the prefix of a line among the parts of it, in their order: a part that ends a sentence gets as many
/// sentences of the prefix as it has, one that is cut within a sentence as many words of it as have no more pieces than
/// the part. The first that is not whole gets the rest, which may be empty, and nothing is for those behind it. What is
/// given adds up to the prefix.
std::vector<PartPrefix> divide_prefix(std::string_view prefix, std::span<const SourcePart> parts,
                                      const TextCodec& codec);

}  // namespace nmt
