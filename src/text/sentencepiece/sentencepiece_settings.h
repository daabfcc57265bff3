#pragma once

#include <string_view>

namespace nmt {

/// What a SentencePiece model file says of how it cuts text; SentencePiece itself does not tell.
struct SentencePieceSettings {
  bool is_bpe = false;
  bool add_dummy_prefix = true;
  bool remove_extra_whitespaces = true;
  bool escape_whitespaces = true;
  bool treat_whitespace_as_suffix = false;
};

/// From the bytes of a model file (a protocol buffer, sentencepiece_model.proto). What it does not say, or what cannot
/// be read, has its default.
SentencePieceSettings read_sentencepiece_settings(std::string_view serialized);

}  // namespace nmt
