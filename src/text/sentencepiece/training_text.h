#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "text/sentencepiece/sentencepiece_options.h"

namespace nmt {

/// What SentencePiece leaves out of its training, whatever its options: such lines are to be counted and reported.
bool sentencepiece_skips(std::string_view line);

/// What SentencePiece learns from: lines, or words with their counts.
struct TrainingText {
  TrainingText(std::vector<std::string> text) : lines(std::move(text)) {}

  /// Puts a line "WORD TAB COUNT" for each different word in the place of the lines, where the model is the same: for
  /// BPE, whose trainer does nothing else with lines than to normalise them and to count their words. It takes several
  /// times as long for that, on one thread, and a copy of the text.
  void count_words(const SentencePieceOptions& options, int threads);

  std::vector<std::string> lines;
  size_t counted_bytes = 0;  ///< of the lines that were counted; 0: they stand there as they were
};

}  // namespace nmt
