#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "config/config.h"
#include "text/codec/codec.h"

namespace nmt {

// A model for several target languages has a piece of each in its source vocabulary, ">>cs<<", which stands before a
// sentence and says which one is wanted (Johnson et al. 2017; the form is that of OPUS-MT).

/// ">>cs<<" of cs.
std::string language_tag(std::string_view language);

/// What begins a text in the form of a tag, whether or not a model knows it; empty: nothing does.
std::string_view tag_like_beginning(std::string_view text);

/// The pieces of the source vocabulary that are tags, ascending.
std::vector<int32_t> tag_pieces(const TextCodec& codec);

/// Their languages.
std::vector<std::string> target_languages(const TextCodec& codec);

/// The codec of a model for one of its target languages: each source gets the tag. Throws Error for a language that it
/// has no tag of and that is not the only one.
TextCodec into_language(const TextCodec& codec, const std::string& language);

/// The codec of a text with the languages of `data` (of_corpus, of_set): with the tag where data.tags says so.
TextCodec codec_for(const TextCodec& codec, const DataConfig& data);

}  // namespace nmt
