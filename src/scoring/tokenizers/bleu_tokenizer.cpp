#include "scoring/tokenizers/bleu_tokenizer.h"

#include <vector>

#include "base/words.h"

namespace nmt::scoring {

std::string BleuTokenizer::tokenize(std::string_view line) const {
  std::string text, joined;
  tokenize(line, text);
  std::vector<std::string_view> words;
  split_words(text, words);
  for (const std::string_view word : words) {
    if (!joined.empty()) joined += ' ';
    joined += word;
  }
  return joined;
}

}  // namespace nmt::scoring
