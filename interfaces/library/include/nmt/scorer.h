#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "nmt/error.h"
#include "nmt/export.h"

NMT_API_BEGIN

/// BLEU (Papineni et al. 2002). Names and defaults are sacreBLEU's.
struct BleuOptions {
  std::string tokenizer = "13a";            ///< a name of metric_tokenizers() (nmt/tokenizer.h)
  std::string sentencepiece_model = {};     ///< file for spm, flores101, ...; empty: where sacreBLEU keeps them
  bool lowercase = false;                   ///< case does not count
  std::string smooth_method = "exp";        ///< none, floor, add-k, exp
  std::optional<double> smooth_value = {};  ///< 0 or more; floor: 0.1, add-k: 1 by default
  int max_ngram_order = 4;                  ///< n-grams of 1 to so many tokens
  bool effective_order = false;             ///< leave out orders longer than the text; sentence_score() always does
};

/// chrF (Popovic 2015); with word_order 2 chrF++.
struct ChrfOptions {
  int char_order = 6, word_order = 0;  ///< n-grams of 1 to so many characters and words
  std::int64_t beta = 2;               ///< how many times as much recall weighs as precision, 0 or more
  bool lowercase = false;              ///< case does not count
  bool whitespace = false;             ///< white space counts as characters
  bool eps_smoothing = false;          ///< as NLTK and Moses smooth, instead of leaving orders without matches out
};

/// Translation edit rate (Snover et al. 2006), as Tercom counts.
struct TerOptions {
  bool normalized = false;      ///< tokens as mteval makes them
  bool no_punctuation = false;  ///< sacreBLEU: no_punct
  bool asian_support = false;   ///< each Asian character is a word
  bool case_sensitive = false;  ///< case counts
};

/// How a corpus is scored.
struct CorpusOptions {
  int threads = 0;  ///< 0: all processors; figures do not depend on it
  /// Resamples for a confidence interval (Koehn 2004), such as 1000, at most 1,000,000; 0: none.
  std::int64_t bootstrap = 0;
  /// The seed of the resamples: a number or "none"; empty: as SACREBLEU_SEED says, else 12345.
  std::string seed = {};
};

/// Mean and half width of the 95 % interval of bootstrap resamples.
struct Confidence {
  double mean = 0, half_width = 0;  ///< in the score's unit
};

/// The score of a corpus or a sentence.
struct Score {
  std::string name;             ///< "BLEU", "chrF2", "chrF2++", "TER"
  double score = 0;             ///< in percent; TER may exceed 100
  std::string signature;        ///< "nrefs:1|case:mixed|eff:no|tok:13a|smooth:exp|version:2.6.0"
  std::string short_signature;  ///< "#:1|c:mixed|e:no|tok:13a|s:exp|v:2.6.0"
  std::string text;             ///< the line that sacreBLEU's Python interface prints: "BLEU|nrefs:... = 26.60 ..."
  std::string json;             ///< sacreBLEU's JSON object
  std::optional<Confidence> confidence = {};  ///< with CorpusOptions::bootstrap
  // BLEU alone
  std::vector<double> counts = {}, totals = {};  ///< n-grams that match and that there are, orders 1 to max_ngram_order
  std::vector<double> precisions = {};           ///< in percent
  double brevity_penalty = 0;                    ///< in [0, 1]; 1: not too short
  std::int64_t system_length = 0, reference_length = 0;  ///< tokens
  // TER alone
  double edits = 0, reference_words = 0;  ///< of all lines
};

/// references[set][line]; every set has as many lines as the hypotheses.
using References = std::vector<std::vector<std::string>>;
/// The same where a line may lack some of them; each has one at least.
using OptionalReferences = std::vector<std::vector<std::optional<std::string>>>;

/// A metric with its options, immutable: any number of threads may use it. Figures and signatures equal those of
/// sacreBLEU 2.6.0 to the digit. All text is UTF-8; functions throw UserError where it is not, where numbers of lines
/// differ and where there are none.
class NMT_EXPORT Scorer {
 public:
  /// Throws UserError for an unknown tokenizer or one that is not there, and for options out of range.
  explicit Scorer(const BleuOptions& options);
  /// The same for chrF.
  explicit Scorer(const ChrfOptions& options);
  /// The same for TER.
  explicit Scorer(const TerOptions& options);
  Scorer(const Scorer&) = default;  ///< what is moved from stays as it was
  Scorer& operator=(const Scorer&) = default;

  /// The score of a corpus: hypotheses[line].
  Score corpus_score(const std::vector<std::string>& hypotheses, const References& references,
                     const CorpusOptions& options = {}) const;
  /// The score of a corpus whose lines have different numbers of references.
  Score corpus_score_optional(const std::vector<std::string>& hypotheses, const OptionalReferences& references,
                              const CorpusOptions& options = {}) const;
  /// The score of a sentence, as sacreBLEU's sentence_score, by one reference or several; BLEU with effective order.
  Score sentence_score(const std::string& hypothesis, const std::vector<std::string>& references) const;

  std::string name() const;  ///< of its scores: "BLEU", "chrF2++", "TER"

 private:
  friend struct Access;
  class State;
  std::shared_ptr<const State> state_;
};

/// How systems are compared with the first one, the baseline.
struct PairedTestOptions {
  bool approximate_randomization = false;  ///< Riezler and Maxwell 2005, instead of paired bootstrap (Koehn 2004)
  std::int64_t samples = 0;                ///< at most 1,000,000; 0: 1000 resamples, 10000 trials
  std::string seed = {};                   ///< see CorpusOptions
  int threads = 0;                         ///< 0: all processors
};

/// One system by one metric.
struct PairedResult {
  double score = 0;                           ///< of all lines, as Score::score
  std::optional<double> p_value = {};         ///< two-sided; none for the baseline
  std::optional<Confidence> confidence = {};  ///< of bootstrap
};

/// All systems by one metric.
struct PairedScores {
  std::string metric;                 ///< "BLEU"
  std::string signature;              ///< of the metric and the test: as Score::signature
  std::vector<PairedResult> results;  ///< one a system, in their order
};

/// systems[system][line]. A result for each scorer, in their order. Throws UserError for fewer than two systems,
/// and for no scorer.
NMT_EXPORT std::vector<PairedScores> paired_test(const std::vector<std::vector<std::string>>& systems,
                                                 const References& references, const std::vector<Scorer>& scorers,
                                                 const PairedTestOptions& options = {});

NMT_API_END
