#include "text/words/word_counts.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "base/words.h"

namespace nmt {
namespace {

constexpr int64_t kSpecialCount = 1000000000;  // beyond every minimum

bool is_special(std::string_view word) {
  return std::find(kSpecialWords.begin(), kSpecialWords.end(), word) != kSpecialWords.end();
}

}  // namespace

void WordCounts::add(std::string_view line) {
  split_words(line, words_);
  for (const std::string_view word : words_) {
    auto found = counts_.find(word);
    if (found == counts_.end()) {
      if (is_special(word)) continue;
      found = counts_.emplace(word, Count{.count = 0, .order = size()}).first;
    }
    ++found->second.count;
  }
}

std::string WordCounts::to_tsv(WordTies ties) const {
  std::vector<const std::pair<const std::string, Count>*> entries;
  entries.reserve(counts_.size());
  for (const auto& entry : counts_) entries.push_back(&entry);
  std::sort(entries.begin(), entries.end(), [ties](const auto* a, const auto* b) {
    if (a->second.count != b->second.count) return a->second.count > b->second.count;
    return ties == WordTies::kFirst ? a->second.order < b->second.order
                                    : a->first < b->first;  // UTF-8 sorts as its code points
  });
  std::string tsv;
  const auto write = [&](std::string_view word, int64_t count) {
    fmt::format_to(std::back_inserter(tsv), "{}\t{}\n", word, count);
  };
  for (const std::string_view word : kSpecialWords) write(word, kSpecialCount);
  for (const auto* entry : entries) write(entry->first, entry->second.count);
  return tsv;
}

}  // namespace nmt
