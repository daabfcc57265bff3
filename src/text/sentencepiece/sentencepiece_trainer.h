#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "text/sentencepiece/training_text.h"

namespace nmt {

/// What a caller may want to see and do while it trains, which can take minutes.
struct SentencePieceWatch {
  std::function<void(int64_t pieces)> progress = {};  ///< pieces merged so far (BPE only); may be empty
  std::function<bool()> should_stop = {};             ///< asked several times a second; may be empty
};

/// Trains a model on a text (Sennrich et al. 2016 for BPE, Kudo 2018 for unigram) with ids pad 0, unk 1, bos 2,
/// eos 3. A function of text and options: the trainer's number of threads is fixed. Runs in a child process, so that
/// it can be stopped, gives its memory back, and prints nothing. Returns the model's bytes, or nullopt when should_stop
/// said so. Throws Error (a vocabulary too large or too small for the text, with the possible size; no text),
/// MachineError when the child died (out of memory).
std::optional<std::string> train_sentencepiece(const TrainingText& text, const SentencePieceOptions& options,
                                               const SentencePieceWatch& watch = {});

}  // namespace nmt
