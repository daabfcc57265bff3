#include "scoring/command/score_arguments.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>

#include "scoring/metrics/bleu.h"

namespace nmt::scoring {
namespace {

constexpr std::string_view kTextGroup = "Text", kMetricsGroup = "Metrics", kBleuGroup = "BLEU", kChrfGroup = "chrF",
                           kTerGroup = "TER", kSignificanceGroup = "Significance", kOutputGroup = "Output";
constexpr std::array kGroups{kTextGroup, kMetricsGroup,      kBleuGroup,  kChrfGroup,
                             kTerGroup,  kSignificanceGroup, kOutputGroup};

constexpr std::array<std::string_view, 3> kExamples{"nmt-score reference.de -i output.de",
                                                    "nmt-score reference.de -i output.de -m bleu chrf -f text -w 2",
                                                    "nmt-score reference.de -i base.de new.de --paired-bs"};

/// How an option stands in the help.
struct Shown {
  std::string_view group, value, help;
};

ArgumentOption shown(ArgumentOption option, const Shown& how) {
  option.group = how.group;
  option.value = how.value;
  option.help = how.help;
  return option;
}

ArgumentOption flag(std::vector<std::string> names, std::string_view group, std::string_view help) {
  return shown({std::move(names)}, {group, "", help});
}

ArgumentOption one(std::vector<std::string> names, const Shown& how, std::vector<std::string> choices = {}) {
  return shown({std::move(names), Arity::kOne, std::move(choices)}, how);
}

/// Not sacreBLEU's: its abbreviations (--m, --l) keep their meaning.
ArgumentOption own(std::string name, const Shown& how) {
  return shown({{std::move(name)}, Arity::kOne, {}, false, "", true}, how);
}

/// In lines of at most 120 columns, which begin behind `indent` spaces; the first is already there.
std::string wrapped(std::string_view words, size_t indent) {
  std::string text;
  size_t column = indent;
  while (!words.empty()) {
    const std::string_view word = words.substr(0, words.find(' '));
    if (column > indent && column + 1 + word.size() > 120) {
      text += '\n' + std::string(indent, ' ');
      column = indent;
    } else if (column > indent) {
      text += ' ';
      ++column;
    }
    text += word;
    column += word.size();
    words.remove_prefix(std::min(word.size() + 1, words.size()));
  }
  return text + '\n';
}

/// What an option is called, and its help beside it.
std::string row(std::string first, std::string_view help) {
  constexpr size_t kColumn = 32;
  if (first.size() + 2 > kColumn) first += '\n';
  const size_t last_line = first.ends_with('\n') ? 0 : first.size();
  return first + std::string(kColumn - last_line, ' ') + wrapped(help, kColumn);
}

}  // namespace

const std::vector<ArgumentOption>& score_arguments() {
  static const std::vector<ArgumentOption> options = {
      shown({{"--help", "-h"}, Arity::kFlag, {}, true}, {kOutputGroup, "", "this text"}),
      {{"--citation", "--cite"}},
      {{"--list"}},
      {{"--test-set", "-t"}, Arity::kOne},
      one({"--language-pair", "-l"}, {kTextGroup, "SRC-TGT", "chooses the tokenizer of BLEU for zh, ja and ko"}),
      {{"--origlang", "-ol"}, Arity::kOne},
      {{"--subset"}, Arity::kOne},
      {{"--download"}, Arity::kOne},
      {{"--echo"}, Arity::kAtLeastOne},
      shown({{"--input", "-i"}, Arity::kAny},
            {kTextGroup, "FILE...", "files of systems (default: standard input, systems separated by tabs)"}),
      one({"--num-refs", "-nr"},
          {kTextGroup, "N", "references a line of the one REFERENCE file, separated by tabs (default: 1)"}),
      one({"--encoding", "-e"}, {kTextGroup, "NAME", "encoding of all text (default: utf-8)"}),
      shown(
          {{"--metrics", "-m"}, Arity::kAtLeastOne, {"bleu", "chrf", "ter", "multi-bleu", "multi-bleu-legacy", "nltk"}},
          {kMetricsGroup, "NAME...",
           "which ones; default: bleu; the last three are BLEU as older programs print it, for one system"}),
      flag({"--sentence-level", "-sl"}, kMetricsGroup, "a score for each segment, one metric"),
      one({"--smooth-method", "-s"}, {kBleuGroup, "NAME", "smoothing of n-grams without a match; default: exp"},
          {"none", "floor", "add-k", "exp"}),
      one({"--smooth-value", "-sv"}, {kBleuGroup, "X", "of floor (default: 0.1) and add-k (default: 1)"}),
      one({"--tokenize", "-tok"}, {kBleuGroup, "NAME", "tokenizer; default: by the language, else 13a"},
          tokenizer_names()),
      flag({"--lowercase", "-lc"}, kBleuGroup, "ignore case"),
      flag({"--force"}, kBleuGroup, "no warning that the text looks tokenized"),
      one({"--chrf-char-order", "-cc"}, {kChrfGroup, "N", "longest character n-grams, at most 1000 (default: 6)"}),
      one({"--chrf-word-order", "-cw"},
          {kChrfGroup, "N", "longest word n-grams, at most 1000 (default: 0; 2: chrF++)"}),
      one({"--chrf-beta"}, {kChrfGroup, "N", "weight of recall (default: 2)"}),
      flag({"--chrf-whitespace"}, kChrfGroup, "count white space as characters"),
      flag({"--chrf-lowercase"}, kChrfGroup, "ignore case"),
      flag({"--chrf-eps-smoothing"}, kChrfGroup, "smooth as chrF++.py, NLTK and Moses do"),
      flag({"--ter-case-sensitive"}, kTerGroup, "do not ignore case"),
      flag({"--ter-asian-support"}, kTerGroup, "with --ter-normalized and --ter-no-punct: East Asian characters too"),
      flag({"--ter-no-punct"}, kTerGroup, "remove punctuation"),
      flag({"--ter-normalized"}, kTerGroup, "split punctuation"),
      flag({"--confidence", "-ci"}, kSignificanceGroup,
           "95% confidence interval of one system, by bootstrap resampling"),
      one({"--confidence-n", "-cin"}, {kSignificanceGroup, "N", "resamples (default: 1000)"}),
      shown({{"--paired-ar", "-par"}, Arity::kFlag, {}, false, "--paired-bs"},
            {kSignificanceGroup, "", "compare the systems with the first one, approximate randomization"}),
      shown({{"--paired-bs", "-pbs"}, Arity::kFlag, {}, false, "--paired-ar"},
            {kSignificanceGroup, "", "compare the systems with the first one, paired bootstrap resampling"}),
      one({"--paired-ar-n", "-parn"}, {kSignificanceGroup, "N", "trials (default: 10000)"}),
      one({"--paired-bs-n", "-pbsn"}, {kSignificanceGroup, "N", "resamples (default: 1000)"}),
      one({"--paired-jobs", "-j"}, {kSignificanceGroup, "N", "accepted; see --threads"}),
      flag({"--quiet", "-q"}, kOutputGroup, "no messages"),
      flag({"--short", "-sh"}, kOutputGroup, "short signatures"),
      flag({"--score-only", "-b"}, kOutputGroup, "the score only"),
      one({"--width", "-w"}, {kOutputGroup, "N", "digits after the point, at most 1000 (default: 1)"}),
      flag({"--detail", "-d"}, kOutputGroup, "accepted; there are no built-in test sets to split"),
      flag({"--no-color", "-nc"}, kOutputGroup, "no colours on a terminal"),
      one({"--format", "-f"}, {kOutputGroup, "NAME", "form of the output; default: json"}, {"json", "text", "latex"}),
      shown({{"--version", "-V"}, Arity::kFlag, {}, true}, {kOutputGroup, "", "versions"}),
      one({"--spm-model"},
          {kBleuGroup, "FILE", "the model of spm, flores101, flores200, spBLEU-1K (default: sacreBLEU's download)"}),
      one({"--threads"},
          {kSignificanceGroup, "N",
           "threads for everything, at most 1024 (default: 0, all processors); figures do not depend on it"}),
      own("--min-len", {kMetricsGroup, "N", "only pairs with at least N words on both sides"}),
      own("--max-len", {kMetricsGroup, "N", "only pairs with at most N words on both sides"}),
      own("--length-analysis",
          {kMetricsGroup, "N", "adds a table: scores by length of the reference, in steps of N words"}),
  };
  return options;
}

ProgramDescription score_description() {
  ProgramDescription program{
      .name = "nmt-score",
      .description =
          "Scores translations with BLEU, chrF and TER. The command line, the output and the exit codes are those "
          "of sacreBLEU; docs/scoring.md lists the differences. Test sets are not downloaded by name (-t, "
          "--list, --download, --echo, --citation, --origlang, --subset): get the reference with sacreBLEU "
          "(sacrebleu -t wmt17 -l en-de --echo ref > reference.de) and name the file.",
      .usage = "[OPTIONS] REFERENCE... [-i SYSTEM...]",
      .examples = fmt::format("{}", fmt::join(kExamples, "\n")),
      .exit_status =
          "0: done. 1: the text or the machine does not allow it. 2: the command line is wrong. 17: a "
          "line has another number of fields, separated by tabs, than expected.",
      .arguments = {{"REFERENCE...", "files of references, one segment a line; before -i"}},
      .options = {},
      .environment = {{"SACREBLEU_SEED", "seed of resampling (default: 12345), or none"},
                      {"SACREBLEU_FORMAT", "goes before --format"},
                      {"NO_COLOR", "as --no-color"}}};
  for (const std::string_view group : kGroups) {
    for (const auto& option : score_arguments()) {
      if (option.group != group) continue;
      auto names = option.names;
      std::ranges::reverse(names);  // -i, --input
      program.options.push_back({.names = std::move(names),
                                 .value = option.value,
                                 .choices = option.choices,
                                 .help = option.help,
                                 .group = option.group,

                                 .several_values = option.arity == Arity::kAny || option.arity == Arity::kAtLeastOne});
    }
  }
  return program;
}

std::string score_help() {
  const auto program = score_description();
  std::string text =
      fmt::format("usage: {} {}\n\n{}\nExamples:\n", program.name, program.usage, wrapped(program.description, 0));
  for (const std::string_view example : kExamples) text += fmt::format("  {}\n", example);
  text += "\nArguments:\n";
  for (const auto& [name, help] : program.arguments) text += row("  " + name, help);
  std::string_view group;
  for (const auto& option : program.options) {
    if (option.group != group) text += fmt::format("\n{}:\n", group = option.group);
    const std::string choices = fmt::format("{}", fmt::join(option.choices, ", "));
    text += row(fmt::format("  {}{}{}", fmt::join(option.names, ", "), option.value.empty() ? "" : " ", option.value),
                choices.empty() ? option.help : fmt::format("{} ({})", choices, option.help));
  }
  text += "\nEnvironment:\n";
  for (const auto& [name, help] : program.environment) text += row("  " + name, help);
  return text;
}

}  // namespace nmt::scoring
