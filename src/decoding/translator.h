#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "decoding/search.h"
#include "text/codec.h"

namespace nmt {

struct TranslatorOptions {
  SearchOptions search;
  int64_t batch_size = 32;          ///< sentences that are searched together
  int64_t max_source_length = 1024;  ///< pieces; longer input is split at spaces (reported in Translation::split)
};

/// A translated line.
struct Translation {
  std::string text;
  std::vector<Hypothesis> hypotheses;  ///< n best; for a split line those of its last part
  int64_t source_tokens = 0;           ///< pieces, all parts
  bool split = false;                  ///< the line was longer than max_source_length
};

/// Raw text to raw text with one model.
class Translator {
 public:
  /// Borrows both: they must outlive it.
  Translator(TranslationModel& model, const TextCodec& codec, TranslatorOptions options);

  /// Any number of lines, results in their order; sorted by length inside. An empty line (or only spaces) gives an empty one.
  /// progress: called with the number of lines done so far.
  std::vector<Translation> translate(std::span<const std::string> lines,
                                     const std::function<void(int64_t)>& progress = {}) const;

 private:
  TranslationModel& model_;
  const TextCodec& codec_;
  TranslatorOptions options_;
};

}  // namespace nmt
