#include "text/terms/phrase_trie.h"

namespace nmt {

std::optional<size_t> PhraseTrie::add(std::span<const std::string_view> words, size_t number) {
  int32_t node = 0;
  for (const auto text : words) {
    auto word = words_.find(text);
    if (word == words_.end()) word = words_.emplace(text, static_cast<int32_t>(words_.size())).first;
    node = steps_.emplace(Step(node, word->second), static_cast<int32_t>(steps_.size()) + 1).first->second;
  }
  const auto [place, is_new] = numbers_.emplace(node, number);
  return is_new ? std::nullopt : std::optional(place->second);
}

PhraseTrie::Found PhraseTrie::longest(std::span<const std::string_view> words) const {
  Found found;
  int32_t node = 0;
  for (size_t i = 0; i < words.size(); ++i) {
    const auto word = words_.find(words[i]);
    if (word == words_.end()) return found;
    const auto step = steps_.find(Step(node, word->second));
    if (step == steps_.end()) return found;
    node = step->second;
    if (const auto end = numbers_.find(node); end != numbers_.end()) found = {.words = i + 1, .number = end->second};
  }
  return found;
}

}  // namespace nmt
