#include "text/codec/caching_encoder.h"

#include <algorithm>
#include <utility>

namespace nmt {
namespace {

constexpr size_t kMostWords = 1 << 17;
constexpr size_t kLongestWord = 64;  // bytes: longer ones hardly come twice

}  // namespace

CachingEncoder::CachingEncoder(const Tokenizer& tokenizer) : tokenizer_(tokenizer) {
  if (tokenizer.words_are_independent()) words_.reserve(2 * kMostWords);
}

std::vector<int32_t> CachingEncoder::encode(std::string_view text) {
  // SentencePiece's mark of a space, written in a text, is no space to its rules, but one to its pieces.
  const bool splits = tokenizer_.words_are_independent() && text.find(kSpaceMark) == std::string_view::npos;
  if (!splits) return tokenizer_.encode(text);
  ids_.clear();
  while (!text.empty()) {
    const std::string_view word = text.substr(0, text.find(' '));
    if (!word.empty()) append_ids(word);
    text.remove_prefix(std::min(text.size(), word.size() + 1));
  }
  return ids_;
}

void CachingEncoder::append_ids(std::string_view word) {
  if (const auto known = words_.find(word); known != words_.end()) {
    const auto begin = ids_of_words_.begin() + known->second.begin;
    ids_.insert(ids_.end(), begin, begin + known->second.count);
    return;
  }
  const auto ids = tokenizer_.encode(word);
  ids_.insert(ids_.end(), ids.begin(), ids.end());
  if (word.size() > kLongestWord) return;
  if (words_.size() == kMostWords) {
    words_.clear();
    ids_of_words_.clear();
  }
  words_.emplace(word, Ids{std::ssize(ids_of_words_), std::ssize(ids)});
  ids_of_words_.insert(ids_of_words_.end(), ids.begin(), ids.end());
}

}  // namespace nmt
