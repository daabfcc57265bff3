#pragma once

#include <map>
#include <string>

#include "text/codec/codec.h"

namespace nmt {

/// The vocabulary for a reader: `piece TAB score` a line, as SentencePiece's own trainer writes it beside a model, or
/// `word TAB count`; line i + 1 has the piece of id i. Words that are unknown to the tokenizer are not in it.
std::string readable_vocabulary(const Tokenizer& tokenizer);

/// The files that stand beside those that TextCodec::save() writes: spm.vocab beside spm.model, source.vocab beside
/// source.spm, de.vocab beside de.vocab.tsv, with their text.
std::map<std::string, std::string> readable_vocabularies(const TextCodec& codec);

/// The name of the readable file beside one of TextCodec::save().
std::string readable_name(const std::string& file);

}  // namespace nmt
