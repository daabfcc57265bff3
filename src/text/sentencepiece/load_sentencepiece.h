#pragma once

#include <string_view>

namespace sentencepiece {
class SentencePieceProcessor;
}

namespace nmt {

/// Loads a model from the bytes of its file, which may be a stranger's: false for what is no model, or one that was
/// made to lead SentencePiece out of memory.
bool load_sentencepiece(sentencepiece::SentencePieceProcessor& processor, std::string_view serialized);

}  // namespace nmt
