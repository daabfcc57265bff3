#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace nmt::scoring {

/// The version of sacreBLEU whose figures, text and signatures this library reproduces.
inline constexpr std::string_view kSacrebleuVersion = "2.6.0";

/// What every signature says besides the options of its metric (Post 2018, "A Call for Clarity in Reporting BLEU
/// Scores").
struct SignatureFacts {
  int64_t references = 1;                 ///< per segment; kVariableReferences if segments differ; 0: not shown
  std::optional<int64_t> bootstrap = {};  ///< number of bootstrap resamples, if any were drawn
  std::optional<int64_t> trials = {};     ///< number of approximate-randomisation trials, if any
  std::optional<std::string> seed = {};   ///< as sacreBLEU writes it: "12345", "none"
};
inline constexpr int64_t kVariableReferences = -1;

/// An ordered list of key:value pairs, "nrefs:1|case:mixed|eff:no|tok:13a|smooth:exp|version:2.6.0".
class Signature {
 public:
  struct Field {
    std::string key, short_key, value;
  };
  Signature(const SignatureFacts& facts, std::vector<Field> metric_fields);
  const std::vector<Field>& fields() const { return fields_; }
  std::string text() const;        ///< long names
  std::string short_text() const;  ///< "#:1|c:mixed|e:no|tok:13a|s:exp|v:2.6.0"

 private:
  std::vector<Field> fields_;
};

/// Mean and half width of the 95 % interval of bootstrap resamples (Koehn 2004).
struct ConfidenceInterval {
  double mean = 0;
  double half_width = 0;
};

/// What a program of its own prints of its score: it stands for sacreBLEU's rounding, signature and line.
struct OriginalText {
  std::string figure;  ///< "28.06"
  std::string line;    ///< "BLEU = 28.06, 58.5/35.5/23.0/15.2 (BP=0.961, ration=0.962)"
};

/// How a score is printed. The command line of sacreBLEU uses width 1, its Python interface 2.
struct ScoreFormat {
  int width = 2;            ///< digits after the point, 0 or more
  bool score_only = false;  ///< no name, signature and details
  bool short_signature = false;
};

/// The score of a system or sentence by one metric.
struct Score {
  std::string name;  ///< "BLEU", "chrF2", "chrF2++", "TER"
  double score = 0;  ///< in percent; TER may exceed 100
  std::optional<ConfidenceInterval> confidence;
  std::string details;  ///< BLEU: "57.7/20.0/11.9/8.0 (BP = 1.000 ratio = ...)"; others: empty
  std::optional<Signature> signature;
  std::optional<OriginalText> original = {};  ///< of metrics that are not sacreBLEU's

  /// BLEU: in percent, orders 1 to max_order, after smoothing.
  std::vector<double> precisions = {};
  std::vector<double> correct = {}, total = {};  ///< BLEU: n-grams; add-k raises those of orders above 1 by k
  double brevity_penalty = 0;
  int64_t hypothesis_length = 0, reference_length = 0;  ///< BLEU: tokens
  double edits = 0;                                     ///< TER: shifts, insertions, deletions, substitutions
  double reference_words = 0;                           ///< TER: averaged over the references of a segment

  /// One line as sacreBLEU prints it: "BLEU|nrefs:1|...|version:2.6.0 = 26.60 57.7/... (BP = ...)".
  std::string format(const ScoreFormat& format = {}) const;
  /// The JSON object of sacreBLEU, indented by one space, without a line end.
  std::string format_json(const ScoreFormat& format = {}) const;
};

/// Takes the statistics of segments, one after another. Not to be shared between threads.
class SegmentScorer {
 public:
  virtual ~SegmentScorer() = default;
  /// The references of the segment that follows, at least one. Must stay valid until the last statistics() of the
  /// segment.
  virtual void set_references(std::span<const std::string_view> references) = 0;
  /// Statistics of a hypothesis for these references: Metric::columns() numbers.
  virtual void statistics(std::string_view hypothesis, std::span<double> out) = 0;
};

/// The score of one bootstrap resample as NumPy 2 computes it: in float32 where every operand was one.
struct ResampleScore {
  double value = 0;
  bool is_float32 = false;
};

/// A metric whose corpus score is a function of sums of segment statistics. Objects are immutable: share them freely.
/// All text is UTF-8 (nmt::Error otherwise).
class Metric {
 public:
  virtual ~Metric() = default;
  virtual std::string key() const = 0;   ///< "BLEU", "CHRF", "TER": the order of metrics in reports
  virtual std::string name() const = 0;  ///< of its scores: "BLEU", "chrF2++", "TER"
  virtual int columns() const = 0;       ///< statistics of a segment
  /// Counts white space at the ends of lines, which sacreBLEU removes from the files that it reads.
  virtual bool reads_line_ends() const { return false; }
  virtual std::unique_ptr<SegmentScorer> segment_scorer() const = 0;
  /// The score of sums of statistics; without signature.
  virtual Score score_of(std::span<const double> sums) const = 0;
  virtual ResampleScore score_of_resample(std::span<const float> sums) const = 0;
  /// The score of an approximate-randomisation trial; differs from score_of() where NumPy's integers would.
  virtual double score_of_trial(std::span<const double> sums) const { return score_of(sums).score; }
  virtual Signature signature(const SignatureFacts& facts) const = 0;
  /// The metric of single sentences, where that is another one.
  virtual std::unique_ptr<Metric> for_sentences() const { return nullptr; }
};

}  // namespace nmt::scoring
