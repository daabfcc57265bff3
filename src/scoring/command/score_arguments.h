#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/process/program_description.h"
#include "scoring/command/results_table.h"
#include "scoring/corpus/paired_test.h"
#include "scoring/metrics/bleu.h"
#include "scoring/metrics/chrf.h"
#include "scoring/metrics/ter.h"

namespace nmt::scoring {

/// The command line of nmt-score, which is that of sacrebleu with a few options and metrics besides (docs/scoring.md).
struct ScoreOptions {
  std::vector<std::string> references;
  std::vector<std::string> systems;  ///< files of -i; none: standard input
  int64_t fields = 1;                ///< references a line, -nr
  std::string encoding = "utf-8";
  std::string language_pair;

  std::vector<std::string> metrics;   ///< as given; none: bleu
  std::vector<std::string> segments;  ///< files of scores that other programs gave; then there is no text
  bool sentence_level = false;
  int64_t min_length = 0;                  ///< only pairs whose hypothesis and references all have so many words
  std::optional<int64_t> max_length;       ///< and no more than so many
  std::optional<int64_t> length_analysis;  ///< width of the length classes of an additional table
  BleuOptions bleu;
  std::optional<std::string> tokenizer;  ///< as given; else by the language
  bool force = false;
  ChrfOptions chrf;
  TerOptions ter;

  bool confidence = false;
  int64_t confidence_samples = 1000;
  std::optional<PairedTestKind> paired;
  int64_t bootstrap_samples = 1000, trials = 10000;
  int threads = 0;

  bool quiet = false, short_signature = false, score_only = false, detail = false, no_color = false;
  std::optional<int> width;  ///< none: 1; of --segments 4
  TableStyle style = TableStyle::kJson;

  bool names_test_set = false;  ///< any of -t, --list, --download, --citation, --echo, --origlang, --subset
  bool help = false, version = false;
};

/// An option of nmt-score.
struct ScoreArgument {
  /// How it is written: without a value it is a flag. Those without a group stand neither in the help nor in the
  /// manual.
  OptionDescription shown;
  /// Puts its values (none, one, or several) where they belong. Throws nmt::Error that begins with the name as given.
  std::function<void(const std::string& name, const std::vector<std::string>& values)> store;
};

/// Every option: sacreBLEU's, and those besides. They write to `options`, which has to outlive them.
std::vector<ScoreArgument> score_arguments(ScoreOptions& options);

/// The command line in words; score_help() and the manual page are made of it.
ProgramDescription score_description();

/// What --help prints.
std::string score_help();

/// Reads the words of a command line. Throws nmt::Error for an option that there is not, and a value that it cannot
/// have. Looks at SACREBLEU_FORMAT.
ScoreOptions parse_score_options(const std::vector<std::string>& words);

}  // namespace nmt::scoring
