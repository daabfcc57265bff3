#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "config/kinds.h"
#include "text/string_hash.h"

namespace nmt {

/// The first four words of every word vocabulary, in the order of SpecialIds. No word of a text is one of them.
constexpr std::array<std::string_view, 4> kSpecialWords = {"<PAD>", "<UNK>", "<S>", "</S>"};

/// Counts the words (what white space parts) of a text, line by line. Memory grows with the different words alone.
class WordCounts {
 public:
  void add(std::string_view line);
  int64_t size() const { return static_cast<int64_t>(counts_.size()); }  ///< different words

  /// A vocabulary file as Kyubyong's program of 2017 writes it: `word TAB count` a line, first kSpecialWords with count
  /// 1000000000, then all words, the most frequent first; of equal counts, the one that came first, or the one
  /// whose code points are smaller.
  std::string to_tsv(WordTies ties = WordTies::kFirst) const;

 private:
  struct Count {
    int64_t count = 0;
    int64_t order = 0;  // of first occurrence
  };
  std::unordered_map<std::string, Count, StringHash, std::equal_to<>> counts_;
  std::vector<std::string_view> words_;  // of the line in hand
};

}  // namespace nmt
