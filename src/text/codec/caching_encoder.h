#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "text/codec/word_ids.h"
#include "text/tokenizer.h"

namespace nmt {

/// Encodes many lines as Tokenizer::encode does, several times as fast where words do not depend on each other: it
/// remembers the ids of words that it met, in some 6 MB. For one thread.
class CachingEncoder {
 public:
  explicit CachingEncoder(const Tokenizer& tokenizer);
  std::vector<int32_t> encode(std::string_view text);

 private:
  void append_ids(std::string_view word);

  const Tokenizer& tokenizer_;
  WordIds words_;
  std::vector<int32_t> ids_;  // of the line at hand
};

}  // namespace nmt
