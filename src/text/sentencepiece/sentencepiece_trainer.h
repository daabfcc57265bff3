#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace nmt {

struct SentencePieceOptions {
  std::string type = "bpe";  ///< bpe | unigram
  int64_t vocab_size = 32000;
  double character_coverage = 0.9995;
  bool byte_fallback = false;
  std::vector<std::string> user_symbols = {};
  std::string normalization = "nmt_nfkc";
  std::string option = "data.vocab_size";  ///< named in messages about the size
};

/// What a caller may want to see and do while it trains, which can take minutes.
struct SentencePieceWatch {
  std::function<void(int64_t pieces)> progress = {};  ///< pieces merged so far (BPE only); may be empty
  std::function<bool()> should_stop = {};             ///< asked several times a second; may be empty
};

/// What SentencePiece leaves out of its training, whatever its options: such lines are to be counted and reported.
bool sentencepiece_skips(std::string_view line);

/// Trains a model on the lines (Sennrich et al. 2016 for BPE, Kudo 2018 for unigram) with ids pad 0, unk 1, bos 2,
/// eos 3. A function of lines and options: the trainer's number of threads is fixed. Runs in a child process, so that
/// it can be stopped, gives its memory back, and prints nothing. Returns the model's bytes, or nullopt when should_stop
/// said so. Throws Error (a vocabulary too large or too small for the text, with the possible size; no text),
/// MachineError when the child died (out of memory).
std::optional<std::string> train_sentencepiece(const std::vector<std::string>& lines,
                                               const SentencePieceOptions& options,
                                               const SentencePieceWatch& watch = {});

}  // namespace nmt
