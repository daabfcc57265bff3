#pragma once

#include <string>
#include <vector>

#include "base/random.h"

namespace nmt::test {

/// Sentences of made-up words with umlauts, enough for a small SentencePiece model.
inline std::vector<std::string> training_lines(int count = 400, uint64_t seed = 1) {
  static const std::vector<std::string> kSyllables = {"ba",  "der", "gen", "mü",   "st", "lö", "ein", "haus", "ver",
                                                      "ung", "ten", "ki",  "schä", "fo", "ra", "ße",  "no",   "li"};
  CounterRandom random({seed, 99});
  std::vector<std::string> lines;
  for (int i = 0; i < count; ++i) {
    std::string line;
    for (uint64_t word = 0, words = 2 + random.below(9); word < words; ++word) {
      if (!line.empty()) line += ' ';
      for (uint64_t syllable = 0, syllables = 1 + random.below(3); syllable < syllables; ++syllable) {
        line += kSyllables[random.below(kSyllables.size())];
      }
    }
    lines.push_back(line + ".");
  }
  return lines;
}

}  // namespace nmt::test
