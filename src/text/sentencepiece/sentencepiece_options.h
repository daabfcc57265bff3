#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace nmt {

struct SentencePieceOptions {
  std::string type = "bpe";  ///< bpe | unigram
  int64_t vocab_size = 32000;
  double character_coverage = 0.9995;
  bool byte_fallback = false;
  std::vector<std::string> user_symbols = {};
  std::string normalization = "nmt_nfkc";
  std::string option = "data.vocab_size";  ///< named in messages about the size
};

}  // namespace nmt
