#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "config/config.h"
#include "decoding/search.h"
#include "text/codec.h"

namespace nmt {

struct TranslatorOptions {
  SearchOptions search = {};
  int64_t batch_size = 32;           ///< sentences that are searched together
  int64_t max_source_length = 1024;  ///< pieces; longer input is split at spaces (reported in Translation::split)
  void validate() const;             ///< throws Error
};

/// What the decoding section says, within what the model section allows: learned positions end somewhere.
TranslatorOptions translator_options(const Config& config);

/// One of the n best translations of a line.
struct Alternative {
  std::string text;
  double log_probability = 0;  ///< natural logarithm, </s> included
  double score = 0;            ///< log_probability / length penalty
  int64_t tokens = 0;          ///< pieces, </s> included
  bool finished = true;        ///< false: cut at the length limit
};

/// A translated line.
struct Translation {
  std::string text;  ///< that of the best alternative; empty for an empty line
  /// n best, best first; none for an empty line. Of a line that was split: the i-th of each part joined by spaces, with
  /// log-probabilities and tokens added and the score made of these sums.
  std::vector<Alternative> alternatives;
  int64_t source_tokens = 0;  ///< pieces, all parts
  int64_t target_tokens = 0;  ///< pieces and </s> of the best alternative
  bool split = false;         ///< the line was longer than max_source_length
};

/// Raw text to raw text with one model. A line's translation does not depend on the other lines.
class Translator {
 public:
  /// Borrows both: they must outlive it. Throws Error for options out of range.
  Translator(TranslationModel& model, const TextCodec& codec, TranslatorOptions options);

  /// Any number of lines, results in their order; sorted by length inside, so many lines at once are faster. An empty
  /// line (or only white space) gives an empty one; a translation never holds a line end. Puts the model into
  /// evaluation mode while it works. progress: called after each batch with the number of lines done so far; what it
  /// throws ends the translation.
  std::vector<Translation> translate(std::span<const std::string> lines,
                                     const std::function<void(int64_t)>& progress = {}) const;

  /// A line, or a part of one that was too long, on its way through the search.
  struct Part {
    int64_t line = 0;
    std::vector<int32_t> ids;
    std::vector<Hypothesis> hypotheses;
  };

 private:
  void search_parts(std::vector<Part>& parts, int64_t lines, const std::function<void(int64_t)>& progress) const;
  void search_batch(std::vector<Part>& parts, std::span<const int64_t> batch) const;
  Alternative to_alternative(const Hypothesis& hypothesis) const;

  TranslationModel& model_;
  const TextCodec& codec_;
  TranslatorOptions options_;
};

}  // namespace nmt
