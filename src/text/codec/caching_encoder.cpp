#include "text/codec/caching_encoder.h"

#include <algorithm>

namespace nmt {
namespace {

constexpr size_t kMostWords = 1 << 15;  // some 5 MB; the cache starts anew beyond
constexpr size_t kLongestWord = 64;     // bytes: longer ones hardly come twice

}  // namespace

std::vector<int32_t> CachingEncoder::encode(std::string_view text) {
  // SentencePiece's mark of a space, written in a text, is no space to its rules, but one to its pieces.
  const bool splits = tokenizer_.words_are_independent() && text.find(kSpaceMark) == std::string_view::npos;
  if (!splits) return tokenizer_.encode(text);
  std::vector<int32_t> ids;
  while (!text.empty()) {
    const std::string_view word = text.substr(0, text.find(' '));
    if (!word.empty()) {
      const auto& found = ids_of_word(word);
      ids.insert(ids.end(), found.begin(), found.end());
    }
    text.remove_prefix(std::min(text.size(), word.size() + 1));
  }
  return ids;
}

const std::vector<int32_t>& CachingEncoder::ids_of_word(std::string_view word) {
  const auto found = words_.find(word);
  if (found != words_.end()) return found->second;
  auto ids = tokenizer_.encode(word);
  if (word.size() > kLongestWord) return uncached_ = std::move(ids);
  if (words_.size() >= kMostWords) words_.clear();
  return words_.emplace(word, std::move(ids)).first->second;
}

}  // namespace nmt
