#include "text/sentencepiece/load_sentencepiece.h"

#include <sentencepiece_processor.h>

#include <exception>

#include "text/sentencepiece/character_map.h"

namespace nmt {

bool load_sentencepiece(sentencepiece::SentencePieceProcessor& processor, std::string_view serialized) {
  if (serialized.empty() || !has_sound_character_maps(serialized)) return false;
  try {
    return processor.LoadFromSerializedProto(serialized).ok();
  } catch (const std::exception&) {  // its trie does not return a status: a piece with a zero byte, for one
    return false;
  }
}

}  // namespace nmt
