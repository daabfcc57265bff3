#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/random.h"

namespace nmt {

struct SentencePieceOptions {
  std::string type = "bpe";  ///< bpe | unigram
  int64_t vocab_size = 32000;
  double character_coverage = 0.9995;
  bool byte_fallback = false;
  std::vector<std::string> user_symbols = {};
  std::vector<std::string> tags = {};  ///< pieces that may begin a text, and with which no line begins
  std::string normalization = "nmt_nfkc";
  std::string option = "data.vocab_size";  ///< named in messages about the size
};

/// At most so many lines of a stream, each with the same probability (Vitter 1985, algorithm R); a function of the seed
/// and the stream.
class SentenceSample {
 public:
  SentenceSample(int64_t capacity, uint64_t seed);  ///< capacity 0: all lines
  void offer(std::string_view line);
  int64_t offered() const { return offered_; }
  bool is_partial() const { return capacity_ > 0 && offered_ > capacity_; }  ///< some lines are not in it
  std::vector<std::string> take() { return std::move(lines_); }

 private:
  int64_t capacity_, offered_ = 0;
  CounterRandom random_;
  std::vector<std::string> lines_;
};

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

/// Trains a model on a text (Sennrich et al. 2016 for BPE, Kudo 2018 for unigram) with ids pad 0, unk 1, bos 2,
/// eos 3. A function of text and options: the trainer's number of threads is fixed. Runs in a child process, so that
/// it can be stopped, gives its memory back, and prints nothing. Asks should_stop several times a second. Returns the
/// model's bytes, or nullopt when should_stop said so. Throws Error (a vocabulary too large or too small for the text,
/// with the possible size; no text), MachineError when the child died (out of memory).
std::optional<std::string> train_sentencepiece(const TrainingText& text, const SentencePieceOptions& options,
                                               const std::function<bool()>& should_stop = {});

}  // namespace nmt
