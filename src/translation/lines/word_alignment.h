#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "text/aligned_translation.h"
#include "text/codec/codec.h"
#include "translation/lines/request.h"

namespace nmt {

/// How the words of one part of a translation (of a whole one, unless its line was split) look at those of its source.
struct WordAttention {
  int64_t first_source = 0, first_target = 0;  ///< words of the line and of its translation before this part
  /// One head. Words are what stands between white space in the raw texts. The weight of two words is summed over the
  /// pieces of the source word and averaged over those of the target word; what a word spends on </s> is left out, and
  /// so are pieces of signs alone ("." of "end.") where the word has others.
  AttentionGrid grid;
};

/// The attention between the words of a line and of one of its translations, from that between pieces which the search
/// returned (SearchOptions::attention). Empty for an empty line or translation. Where something was cut out of the
/// line, words are those that the model read and wrote (Alternative::cut).
std::vector<WordAttention> word_attention(const TextCodec& codec, std::string_view line,
                                          const Alternative& alternative);

/// The attention between pieces, as the search returned it: one head for each part.
std::vector<AttentionGrid> piece_attention(const TextCodec& codec, const Alternative& alternative);

/// Two words that belong together, counted from 0.
struct WordLink {
  int64_t source = 0, target = 0;
};

/// Each word of the translation with the source word that it looks at most, and source words that are left over with
/// the word that looks at them most, where that is a tenth of what it spends; in the order of the translation.
std::vector<WordLink> word_links(std::span<const WordAttention> parts);

/// The same of a line and one of its translations; with what was cut out of it (Alternative::aligned).
std::vector<WordLink> word_links(const TextCodec& codec, std::string_view line, const Alternative& alternative);

/// The same as Pharaoh writes it: "0-0 1-2", source first.
std::string pharaoh_alignment(std::span<const WordAttention> parts);
std::string pharaoh_alignment(const TextCodec& codec, std::string_view line, const Alternative& alternative);

/// The same in bytes of the line and of the translation.
std::vector<AlignedWords> aligned_words(std::span<const WordAttention> parts, std::string_view line,
                                        std::string_view translation);

/// Fills in the words that the request asks for: Alternative::aligned and Translation::word_attention.
void add_words(const TextCodec& codec, const Request& request, Translation& translation);

/// Puts for each <unk> of the translations the source word that it looks at most. line: as the model read it.
void copy_unknown_words(const TextCodec& codec, std::string_view line, Translation& translation);

}  // namespace nmt
