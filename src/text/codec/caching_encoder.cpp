#include "text/codec/caching_encoder.h"

#include <algorithm>
#include <utility>

namespace nmt {
namespace {

constexpr size_t kMostWords = 1 << 17;
constexpr size_t kLongestWord = 64;  // bytes: longer ones hardly come twice

}  // namespace

CachingEncoder::CachingEncoder(const Tokenizer& tokenizer) : tokenizer_(tokenizer) {}

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
  const auto append = [&](const std::vector<int32_t>& ids) { ids_.insert(ids_.end(), ids.begin(), ids.end()); };
  if (const auto known = words_.find(word); known != words_.end()) return append(known->second);
  auto ids = tokenizer_.encode(word);
  append(ids);
  if (word.size() > kLongestWord) return;
  if (words_.size() == kMostWords) words_.clear();
  words_.emplace(word, std::move(ids));
}

}  // namespace nmt
