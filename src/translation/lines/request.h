#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "text/aligned_translation.h"
#include "text/sentence_queue.h"

namespace nmt {

class Glossary;
class PlaceholderPatterns;

/// What stays or becomes what in every line, whatever a model would write.
struct TermOptions {
  std::shared_ptr<const Glossary> glossary = {};             ///< its terms stand in the translation; null: none
  bool keep_placeholders = false;                            ///< those of find_placeholders() stay as they are
  std::shared_ptr<const PlaceholderPatterns> patterns = {};  ///< and what these find; null: none
  bool any() const { return glossary || keep_placeholders || patterns; }
};

/// A line to translate and what is wanted of its translation: the same for command line, streams, server and library.
struct Request {
  std::string source = {};
  std::string prefix = {};                 ///< text that the translation begins with (divide_prefix)
  bool whole_prefix = false;               ///< where it would be cut (Translation::prefix_is_cut) nothing is translated
  std::vector<std::string> must = {};      ///< phrases that it holds
  std::vector<std::string> must_not = {};  ///< and those that it does not
  int64_t n_best = 0;                      ///< translations that are wanted; 0: SearchOptions::n_best
  bool attention = false;  ///< AlternativePart::attention is wanted, also without SearchOptions::attention
  bool alignment = false;  ///< Alternative::aligned is wanted; without it where the models have no attention
  bool markup = false;     ///< the same for tags that follow their words; without it where can_align_words() says no
  bool word_attention = false;  ///< Translation::word_attention is wanted; the same
  bool distinct = false;        ///< the n best continue differently behind the prefix (SearchInput::distinct)
  bool copy_unknown = false;    ///< copy_unknown_words(); the models must have attention
  std::optional<bool> split_sentences = {};  ///< unset: TranslatorOptions::split_sentences
  TermOptions terms = {};
};

/// The translation of a part of a line: of all of it, unless it was split.
struct AlternativePart {
  std::vector<int32_t> source, target;  ///< pieces, without special ones; the source's are the first model's
  int64_t repeated = 0;  ///< of the source's pieces behind those of source_prefix: a tag of the line's first part
  bool finished = true;  ///< false: cut at the length limit
  /// [tokens, source pieces] row-major, where asked for (Hypothesis::attention); tokens are the target's pieces, and
  /// </s> where it is finished.
  std::vector<float> attention = {};
};

/// What a model read of a line from which something was cut out, and what it wrote.
struct CutText {
  std::string source, translation;
};

/// One of the n best translations of a line.
struct Alternative {
  std::string text;
  double log_probability = 0;                   ///< natural logarithm, </s> included
  double coverage_penalty = 0;                  ///< part of the score, 0 or less
  double score = 0;                             ///< log_probability / length penalty + coverage penalty
  std::optional<double> expected_utility = {};  ///< with decoding.mbr: 0 to 100 (expected_utilities())
  int64_t tokens = 0;                           ///< pieces, </s> included
  bool finished = true;                         ///< false: cut at the length limit
  /// It begins with the prefix and holds every phrase that it must; where something was cut out, as `text` has it.
  bool meets_constraints = true;
  bool shortened = false;  ///< of Translator::score: a side was longer than the model takes and was cut
  std::vector<float> token_log_probabilities = {};  ///< of each token, the parts one after the other
  std::vector<AlternativePart> parts = {};
  /// For a line with terms or placeholders that were cut out (`parts` are without them): what `parts` are of.
  std::optional<CutText> cut = {};
  /// Which words of the line and of `text` belong together: where something was cut out or Request::alignment asks, and
  /// the models have attention.
  std::optional<std::vector<AlignedWords>> aligned = {};
};

/// A translated line.
struct Translation {
  std::string text = {};  ///< that of the best alternative; empty for an empty line
  /// n best, best first; none for an empty line. Of a line that was split: the i-th of each part joined by spaces, with
  /// log-probabilities and tokens added and the score made of these sums.
  std::vector<Alternative> alternatives = {};
  int64_t source_tokens = 0;   ///< pieces, all parts
  int64_t target_tokens = 0;   ///< pieces and </s> of the best alternative
  bool split = false;          ///< the line was longer than max_source_length
  bool loop = false;           ///< the best alternative of the first search has lost its way (is_loop())
  bool prefix_is_cut = false;  ///< it is longer than the greatest translation of a line, or of a part of one
  /// How the words of the best alternative look at those of the line (one head; nothing between words of different
  /// parts), where asked for; none where something was cut out: its words are not those of the text.
  std::optional<AttentionGrid> word_attention = {};
};

/// Lines that may come in while others are translated.
using TranslationQueue = SentenceQueue<Request, Translation>;

/// What a caller hears of a translation under way, and may say to it. Each may be empty.
struct TranslationCalls {
  /// Called with the number of lines done so far whenever there are more, by one thread at a time; what it throws ends
  /// the translation.
  std::function<void(int64_t)> progress = {};
  /// Asked while long lines are cut into parts and before each step of the search, by several threads at once: true
  /// ends it with TranslationStopped.
  std::function<bool()> stopped = {};
};

/// A translation ended because its caller said so.
class TranslationStopped : public std::runtime_error {
 public:
  TranslationStopped() : std::runtime_error("the translation was stopped") {}
};

/// The best alternative with its words, for a document.
inline AlignedTranslation best_aligned(Translation translation) {
  AlignedTranslation best{.text = std::move(translation.text)};
  if (!translation.alternatives.empty() && translation.alternatives.front().aligned)
    best.alignment = std::move(*translation.alternatives.front().aligned);
  return best;
}

/// The line's own request with what holds for all: the prefix where it has none, the phrases beside its own, all else
/// as it stands there. Throws Error for a phrase that must and must not appear.
Request with_common(Request own, const Request& common);

}  // namespace nmt
