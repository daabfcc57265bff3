#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "text/tokenizer.h"

namespace nmt {

/// Encodes many lines as Tokenizer::encode does, several times as fast where words do not depend on each other: it
/// remembers the ids of the words that it met, in some 20 MB at most. For one thread.
class CachingEncoder {
 public:
  explicit CachingEncoder(const Tokenizer& tokenizer);
  std::vector<int32_t> encode(std::string_view text);

 private:
  void append_ids(std::string_view word);

  const Tokenizer& tokenizer_;
  struct Ids {
    int64_t begin = 0, count = 0;  // in ids_of_words_
  };
  std::unordered_map<std::string, Ids, StringHash, std::equal_to<>> words_;
  std::vector<int32_t> ids_of_words_;
  std::vector<int32_t> ids_;  // of the line at hand
};

}  // namespace nmt
