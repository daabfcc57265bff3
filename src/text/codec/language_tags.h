#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "config/config.h"
#include "text/codec/codec.h"
#include "text/codec/tag_form.h"

namespace nmt {

// A model for several target languages has a piece of each in its source vocabulary, ">>cs<<", which stands before a
// sentence and says which one is wanted (Johnson et al. 2017; the form is that of OPUS-MT). With
// TextCodec::Options::tags_both_sides such pieces stand before both sides, each with the side's own language.

/// The pieces of the source vocabulary that are tags, ascending.
std::vector<int32_t> tag_pieces(const TextCodec& codec);

/// Their languages.
std::vector<std::string> target_languages(const TextCodec& codec);

/// The codec of a model for one of its target languages: each source gets the tag. Throws Error for a language that it
/// has no tag of and that is not the only one.
TextCodec into_language(const TextCodec& codec, const std::string& language);

/// The same of decoding.source_language and target_language; empty: the model's own. Throws Error also where a model
/// with tags on both sides is told no language that it has, and for a source language of models without such tags.
TextCodec between_languages(const TextCodec& codec, const std::string& source, const std::string& target);

/// The codec of a text with the languages of `data` (of_corpus, of_set): with the tags where data.tags or the model
/// says so.
TextCodec codec_for(const TextCodec& codec, const DataConfig& data);

}  // namespace nmt
