#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/files/line_reader.h"
#include "base/random.h"
#include "data/synthetic_text.h"
#include "translation/line_formats.h"

namespace nmt {

/// What stands for a word that noise has blanked.
constexpr const char* kBlank = "<blank>";

/// Words of a text (between white space) in disorder, as Edunov et al. (2018, sec. 3.1) do to back-translations: each
/// is dropped with probability `rate`, blanked with the same, and no word ends more than 3 places from its own. A text
/// with words keeps one.
std::string with_noise(std::string_view text, double rate, CounterRandom random);

struct SynthesisOptions {
  SyntheticSide side = SyntheticSide::kSource;
  std::string tag = {};    ///< stands before each source (Caswell et al. 2019); empty: none
  double noise = 0;        ///< rate of with_noise(), of the source
  uint64_t seed = 1;       ///< of the noise
  int64_t first_line = 0;  ///< how many lines of the text stand before the input, for the noise
};

/// Makes pairs of lines of text and their translations.
class PairMaker {
 public:
  /// How like a translation is to a reference: more is better.
  using Likeness = std::function<double(std::string_view translation, std::string_view reference)>;

  explicit PairMaker(SynthesisOptions options) : options_(std::move(options)) {}
  /// The alternative of a line is taken that is most like the line of `references`; of equal ones the better one. The
  /// reader stands before the line of the first item.
  PairMaker& nearest_to(LineReader references, Likeness likeness);

  /// "SOURCE<tab>TARGET" with a line end; both are empty where the line has no translation. Call in the order of the
  /// lines. Throws Error where the references end before.
  std::string line(const OutputItem& item);
  /// Throws Error where there are references behind the last line.
  void finish();

  /// What stands in the sources beside words.
  std::vector<std::string> symbols() const;

 private:
  std::string chosen(const OutputItem& item);

  SynthesisOptions options_;
  std::optional<LineReader> references_;
  Likeness likeness_;
};

}  // namespace nmt
