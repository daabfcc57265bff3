#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>

#include "text/codec/codec.h"
#include "text/pairs/pair_reader.h"
#include "text/tokenizer.h"

namespace nmt {

enum class PieceForm { kPieces, kIds };

/// Lines of text to lines of pieces or ids and back, spaces between: nmt-prepro --encode and --decode. There are no <s>
/// and </s>.
class PieceLines {
 public:
  PieceLines(TextCodec codec, TextSide side, PieceForm form);

  /// Normalised as the model's input is, then cut. What no piece stands for is <unk>.
  std::string encode(std::string_view line) const;
  /// Text of pieces or ids; <pad>, <s> and </s> say nothing. Throws Error for what is no piece or id of the vocabulary.
  std::string decode(std::string_view line) const;

 private:
  const Tokenizer& tokenizer() const { return side_ == TextSide::kSource ? codec_.source() : codec_.target(); }
  int32_t id_of(std::string_view word) const;

  TextCodec codec_;
  TextSide side_;
  PieceForm form_;
  std::unordered_map<std::string, int32_t, StringHash, std::equal_to<>> ids_;  // of pieces
};

}  // namespace nmt
