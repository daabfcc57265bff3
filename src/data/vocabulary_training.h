#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string_view>

#include "base/log.h"
#include "config/config.h"
#include "text/codec.h"
#include "text/sentence_sample.h"

namespace nmt {

/// Gathers the lines that SentencePiece learns from and makes the tokenizers that the data section asks for: learnt or
/// given, one for both languages or one a side.
class VocabularyTraining {
 public:
  VocabularyTraining(const DataConfig& data, uint64_t seed);

  /// One pair of the training text, normalised. Lines beyond data.spm_sentences replace earlier ones by chance.
  void offer(std::string_view source, std::string_view target);

  /// True if fewer lines than offered are learnt from, so that the seed matters.
  bool is_sample() const;

  /// Call once, after the last offer(). nullopt when should_stop said so.
  /// Throws Error: a size that the text does not allow, no line to learn from, a given model that cannot be used.
  std::optional<TextCodec> make_codec(const std::function<bool()>& should_stop, Logger& log);

 private:
  /// The lines of one vocabulary.
  struct Side {
    std::string what;  // "source": for messages
    SentenceSample sample;
    int64_t skipped = 0;  // SentencePiece would not take them
  };
  bool is_learnt() const { return data_.spm_model1.empty(); }
  void offer(Side& side, std::string_view line);
  std::shared_ptr<const Tokenizer> learn(Side& side, const std::function<bool()>& should_stop, Logger& log);

  const DataConfig& data_;
  Side first_, second_;  // joint: first_ alone
};

}  // namespace nmt
