#pragma once

#include <optional>
#include <string>

#include "scoring/corpus/signature.h"

namespace nmt::scoring {

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

  /// One line as sacreBLEU prints it: "BLEU|nrefs:1|...|version:2.6.0 = 26.60 57.7/... (BP = ...)".
  std::string format(const ScoreFormat& format = {}) const;
  /// The JSON object of sacreBLEU, indented by one space, without a line end.
  std::string format_json(const ScoreFormat& format = {}) const;
};

}  // namespace nmt::scoring
