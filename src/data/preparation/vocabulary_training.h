#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/process/log.h"
#include "config/config.h"
#include "text/codec/codec.h"
#include "text/sentencepiece/sentencepiece_trainer.h"
#include "text/words.h"

namespace nmt {

/// Gathers what the vocabularies are learnt from (lines for SentencePiece, or counts of words) and makes the tokenizers
/// that the data section asks for: learnt or given, one for both languages or one a side.
class VocabularyTraining {
 public:
  /// threads: those that count words for SentencePiece. ready: whose tokenizers are taken, be they what they may.
  VocabularyTraining(const DataConfig& data, uint64_t seed, int threads, const std::optional<TextCodec>& ready = {});

  /// False where all vocabularies are given: then no text needs to be offered.
  bool is_learnt() const { return !ready_ && (of_words() ? data_.vocabulary1.empty() : data_.spm_model1.empty()); }
  /// Under the options of the data section; nullptr: there is none.
  const TextCodec* ready() const { return ready_ ? &*ready_ : nullptr; }

  /// The names of the files that the tokenizers will be saved in: TextCodec::file_names().
  std::vector<std::string> file_names() const;

  /// Throws Error for an entry of data.user_symbols that no text has once it is normalised.
  void refuse_lost_symbols() const;

  /// One pair of the training text, normalised; an empty side adds nothing. For SentencePiece, lines beyond
  /// data.spm_sentences replace earlier ones by chance.
  void offer(std::string_view source, std::string_view target);

  /// True if the seed matters: fewer lines than offered are learnt from, or some of them in capitals.
  bool needs_seed() const;

  /// Call once, after the last offer(). nullopt when should_stop said so.
  /// Throws Error: a size that the text does not allow, no line to learn from, no word frequent enough, a given model
  /// that cannot be used.
  std::optional<TextCodec> make_codec(const std::function<bool()>& should_stop, Logger& log);

 private:
  /// The lines of one vocabulary.
  struct Side {
    std::string what;  // "source": for messages
    SentenceSample sample;
    int64_t skipped = 0;  // SentencePiece would not take them
    WordCounts words = {};
  };
  using MaybeTokenizer = std::shared_ptr<const Tokenizer>;  // null: stopped
  bool of_words() const { return data_.tokenizer == TokenizerKind::kWords; }
  WordLimits limits() const { return {.min_count = data_.min_cnt, .max_size = data_.vocab_size}; }
  void offer(Side& side, std::string_view line);
  MaybeTokenizer load_given(const char* option, const std::string& path, Logger& log) const;
  MaybeTokenizer learn(Side& side, const std::function<bool()>& should_stop, Logger& log) const;
  MaybeTokenizer learn_pieces(Side& side, const std::function<bool()>& should_stop, Logger& log) const;
  MaybeTokenizer learn_words(const Side& side, Logger& log) const;

  const DataConfig& data_;
  uint64_t seed_;
  int threads_;
  std::optional<TextCodec> ready_;
  Side first_, second_;  // joint: first_ alone
};

}  // namespace nmt
