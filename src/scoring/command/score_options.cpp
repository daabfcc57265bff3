#include "scoring/command/score_options.h"

#include <fmt/format.h>

#include <cstdlib>
#include <limits>

#include "scoring/command/argument_parser.h"
#include "scoring/command/command_error.h"
#include "scoring/python/python_number.h"

namespace nmt::scoring {
namespace {

const std::vector<ArgumentOption>& argument_options() {
  static const std::vector<ArgumentOption> options = {
      {{"--help", "-h"}, Arity::kFlag, {}, true},
      {{"--citation", "--cite"}},
      {{"--list"}},
      {{"--test-set", "-t"}, Arity::kOne},
      {{"--language-pair", "-l"}, Arity::kOne},
      {{"--origlang", "-ol"}, Arity::kOne},
      {{"--subset"}, Arity::kOne},
      {{"--download"}, Arity::kOne},
      {{"--echo"}, Arity::kAtLeastOne},
      {{"--input", "-i"}, Arity::kAny},
      {{"--num-refs", "-nr"}, Arity::kOne},
      {{"--encoding", "-e"}, Arity::kOne},
      {{"--metrics", "-m"}, Arity::kAtLeastOne, {"bleu", "chrf", "ter", "multi-bleu", "multi-bleu-legacy", "nltk"}},
      {{"--sentence-level", "-sl"}},
      {{"--smooth-method", "-s"}, Arity::kOne, {"none", "floor", "add-k", "exp"}},
      {{"--smooth-value", "-sv"}, Arity::kOne},
      {{"--tokenize", "-tok"}, Arity::kOne, tokenizer_names()},
      {{"--lowercase", "-lc"}},
      {{"--force"}},
      {{"--chrf-char-order", "-cc"}, Arity::kOne},
      {{"--chrf-word-order", "-cw"}, Arity::kOne},
      {{"--chrf-beta"}, Arity::kOne},
      {{"--chrf-whitespace"}},
      {{"--chrf-lowercase"}},
      {{"--chrf-eps-smoothing"}},
      {{"--ter-case-sensitive"}},
      {{"--ter-asian-support"}},
      {{"--ter-no-punct"}},
      {{"--ter-normalized"}},
      {{"--confidence", "-ci"}},
      {{"--confidence-n", "-cin"}, Arity::kOne},
      {{"--paired-ar", "-par"}, Arity::kFlag, {}, false, "--paired-bs"},
      {{"--paired-bs", "-pbs"}, Arity::kFlag, {}, false, "--paired-ar"},
      {{"--paired-ar-n", "-parn"}, Arity::kOne},
      {{"--paired-bs-n", "-pbsn"}, Arity::kOne},
      {{"--paired-jobs", "-j"}, Arity::kOne},
      {{"--quiet", "-q"}},
      {{"--short", "-sh"}},
      {{"--score-only", "-b"}},
      {{"--width", "-w"}, Arity::kOne},
      {{"--detail", "-d"}},
      {{"--no-color", "-nc"}},
      {{"--format", "-f"}, Arity::kOne, {"json", "text", "latex"}},
      {{"--version", "-V"}, Arity::kFlag, {}, true},
      {{"--spm-model"}, Arity::kOne},
      {{"--threads"}, Arity::kOne},
      // Not sacreBLEU's: its abbreviations (--m, --l) keep their meaning.
      {{"--min-len"}, Arity::kOne, {}, false, "", true},
      {{"--max-len"}, Arity::kOne, {}, false, "", true},
      {{"--length-analysis"}, Arity::kOne, {}, false, "", true},
  };
  return options;
}

/// Values of parsed options, converted.
class Values {
 public:
  explicit Values(const ParsedArguments& arguments) : arguments_(arguments) {}

  bool flag(const std::string& name) const { return arguments_.has(name); }

  std::optional<std::string> text(const std::string& name) const {
    const auto found = arguments_.options.find(name);
    if (found == arguments_.options.end()) return std::nullopt;
    return found->second.front();
  }

  template <typename Integer>
  void integer(const std::string& name, Integer& target) const {
    const auto given = text(name);
    if (!given) return;
    const auto value = parse_int(*given);
    constexpr auto kLimits = std::numeric_limits<Integer>();
    if (!value || *value < kLimits.min() || *value > kLimits.max()) {
      throw CommandError(kBadArguments, fmt::format("argument {}: invalid int value: '{}'", name, *given));
    }
    target = static_cast<Integer>(*value);
  }

  std::optional<double> real(const std::string& name) const {
    const auto given = text(name);
    if (!given) return std::nullopt;
    const auto value = parse_float(*given);
    if (!value) throw CommandError(kBadArguments, fmt::format("argument {}: invalid float value: '{}'", name, *given));
    return value;
  }

 private:
  const ParsedArguments& arguments_;
};

std::optional<TableStyle> style_named(const std::string& name) {
  if (name == "json") return TableStyle::kJson;
  if (name == "text") return TableStyle::kText;
  if (name == "latex") return TableStyle::kLatex;
  return std::nullopt;
}

BleuSmoothing smoothing_named(const std::string& name) {
  if (name == "none") return BleuSmoothing::kNone;
  if (name == "floor") return BleuSmoothing::kFloor;
  if (name == "add-k") return BleuSmoothing::kAddK;
  return BleuSmoothing::kExponential;
}

void read_metrics(const Values& values, ScoreOptions& options) {
  options.bleu.smoothing = smoothing_named(values.text("--smooth-method").value_or("exp"));
  options.bleu.smoothing_value = values.real("--smooth-value");
  options.bleu.lowercase = values.flag("--lowercase");
  options.bleu.sentencepiece_model = values.text("--spm-model").value_or("");
  options.tokenizer = values.text("--tokenize");
  options.force = values.flag("--force");
  values.integer("--chrf-char-order", options.chrf.char_order);
  values.integer("--chrf-word-order", options.chrf.word_order);
  values.integer("--chrf-beta", options.chrf.beta);
  options.chrf.whitespace = values.flag("--chrf-whitespace");
  options.chrf.lowercase = values.flag("--chrf-lowercase");
  options.chrf.eps_smoothing = values.flag("--chrf-eps-smoothing");
  options.ter.case_sensitive = values.flag("--ter-case-sensitive");
  options.ter.asian_support = values.flag("--ter-asian-support");
  options.ter.no_punctuation = values.flag("--ter-no-punct");
  options.ter.normalized = values.flag("--ter-normalized");
}

void read_tests(const Values& values, ScoreOptions& options) {
  options.confidence = values.flag("--confidence");
  values.integer("--confidence-n", options.confidence_samples);
  if (values.flag("--paired-bs")) options.paired = PairedTestKind::kBootstrap;
  if (values.flag("--paired-ar")) options.paired = PairedTestKind::kApproximateRandomization;
  values.integer("--paired-bs-n", options.bootstrap_samples);
  values.integer("--paired-ar-n", options.trials);
  int64_t processes = 1;  // of sacreBLEU; threads do that here
  values.integer("--paired-jobs", processes);
  values.integer("--threads", options.threads);
}

void read_report(const Values& values, ScoreOptions& options) {
  options.quiet = values.flag("--quiet");
  options.short_signature = values.flag("--short");
  options.score_only = values.flag("--score-only");
  options.detail = values.flag("--detail");
  options.no_color = values.flag("--no-color");
  values.integer("--width", options.width);
  if (const auto name = values.text("--format")) options.style = *style_named(*name);
  if (const char* name = std::getenv("SACREBLEU_FORMAT")) {
    std::string lower = name;
    for (char& c : lower) c = static_cast<char>(c >= 'A' && c <= 'Z' ? c + 32 : c);
    options.style = style_named(lower).value_or(options.style);
  }
}

}  // namespace

ScoreOptions parse_score_options(const std::vector<std::string>& arguments) {
  ParsedArguments parsed;
  try {
    parsed = parse_arguments(argument_options(), arguments);
  } catch (const Error& error) {
    throw CommandError(kBadArguments, error.what());
  }
  const Values values(parsed);
  ScoreOptions options;
  options.references = parsed.positionals;
  if (parsed.has("--input")) options.systems = parsed.options.at("--input");
  values.integer("--num-refs", options.fields);
  options.encoding = values.text("--encoding").value_or("utf-8");
  if (parsed.has("--metrics")) options.metrics = parsed.options.at("--metrics");
  options.sentence_level = values.flag("--sentence-level");
  values.integer("--min-len", options.min_length);
  if (values.text("--max-len")) values.integer("--max-len", options.max_length.emplace());
  values.integer("--length-analysis", options.length_analysis);
  read_metrics(values, options);
  read_tests(values, options);
  read_report(values, options);
  options.language_pair = values.text("--language-pair");
  options.test_set = values.text("--test-set");
  options.origlang = values.text("--origlang");
  options.subset = values.text("--subset");
  options.download = values.text("--download");
  options.list = values.flag("--list");
  options.citation = values.flag("--citation");
  options.echo = values.flag("--echo");
  options.help = parsed.ended_by == "--help";
  options.version = parsed.ended_by == "--version";
  return options;
}

std::string score_help() {
  return R"(usage: nmt-score [options] REFERENCE... [-i SYSTEM...]

Scores translations with BLEU, chrF and TER. The command line, the output and the exit codes are those of sacreBLEU;
docs/scoring.md lists the differences.

  nmt-score reference.de -i output.de                    one system, JSON
  nmt-score reference.de -i output.de -m bleu chrf -f text -w 2
  nmt-score reference.de -i base.de new.de --paired-bs   is new.de different from base.de?

Text:
  REFERENCE...                  files of references, one segment a line; before -i
  -i, --input [FILE...]         files of systems (default: standard input, systems separated by tabs)
  -nr, --num-refs N             references a line of the one REFERENCE file, separated by tabs (default: 1)
  -e, --encoding NAME           encoding of all text (default: utf-8)
  -l, --language-pair SRC-TGT   chooses the tokenizer of BLEU for zh, ja and ko

Metrics:
  -m, --metrics NAME...         bleu, chrf, ter (default: bleu); as older programs print it, for one system:
                                multi-bleu, multi-bleu-legacy, nltk
  -sl, --sentence-level         a score for each segment, one metric
  --min-len N                   only pairs with at least N words on both sides
  --max-len N                   only pairs with at most N words on both sides
  --length-analysis N           adds a table: scores by length of the reference, in steps of N words

BLEU:
  -tok, --tokenize NAME         none, zh, 13a, intl, char, ja-mecab, ko-mecab, spm, flores101, flores200, spBLEU-1K
                                (default: by the language, else 13a)
  --spm-model FILE              the model of spm, flores101, flores200, spBLEU-1K (default: sacreBLEU's download)
  -s, --smooth-method NAME      none, floor, add-k, exp (default: exp)
  -sv, --smooth-value X         of floor (default: 0.1) and add-k (default: 1)
  -lc, --lowercase              ignore case
  --force                       no warning that the text looks tokenized

chrF:
  -cc, --chrf-char-order N      longest character n-grams (default: 6)
  -cw, --chrf-word-order N      longest word n-grams (default: 0; 2: chrF++)
  --chrf-beta N                 weight of recall (default: 2)
  --chrf-whitespace             count white space as characters
  --chrf-lowercase              ignore case
  --chrf-eps-smoothing          smooth as chrF++.py, NLTK and Moses do

TER:
  --ter-case-sensitive          do not ignore case
  --ter-normalized              split punctuation
  --ter-no-punct                remove punctuation
  --ter-asian-support           with these two: East Asian characters too

Significance:
  -ci, --confidence             95% confidence interval of one system, by bootstrap resampling
  -cin, --confidence-n N        resamples (default: 1000)
  -pbs, --paired-bs             compare the systems with the first one, paired bootstrap resampling
  -par, --paired-ar             the same, approximate randomization
  -pbsn, --paired-bs-n N        resamples (default: 1000)
  -parn, --paired-ar-n N        trials (default: 10000)
  -j, --paired-jobs N           accepted; see --threads
  --threads N                   threads for everything (default: 0, all processors); figures do not depend on it
  SACREBLEU_SEED                environment: seed (default: 12345), or none

Output:
  -f, --format NAME             json, text, latex (default: json; environment SACREBLEU_FORMAT goes first)
  -w, --width N                 digits after the point (default: 1)
  -b, --score-only              the score only
  -sh, --short                  short signatures
  -d, --detail                  accepted; there are no built-in test sets to split
  -nc, --no-color               no colours on a terminal; so does the environment variable NO_COLOR
  -q, --quiet                   no messages
  -V, --version                 versions
  -h, --help                    this text

Not here: downloading test sets by name (-t, --list, --download, --echo, --citation, --origlang, --subset). Get the
reference with sacreBLEU (sacrebleu -t wmt17 -l en-de --echo ref > reference.de) and name the file.
)";
}

}  // namespace nmt::scoring
