#include "scoring/command/score_arguments.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <limits>
#include <string_view>
#include <utility>

#include "base/choice.h"
#include "base/edit_distance.h"
#include "base/error.h"
#include "base/threads.h"

namespace nmt::scoring {
namespace {

using Strings = std::vector<std::string>;

// Beyond these, output and n-grams would fill the memory.
constexpr int kMaxWidth = 1000, kMaxChrfOrder = 1000;

constexpr std::string_view kDescription =
    "Scores translations with BLEU, chrF and TER. The command line, the output and the exit codes are those of\n"
    "sacreBLEU; docs/scoring.md lists the differences. Test sets are not downloaded by name (-t, --list, --download,\n"
    "--echo, --citation, --origlang, --subset): get the reference with sacreBLEU\n"
    "(sacrebleu -t wmt17 -l en-de --echo ref > reference.de) and name the file.";

constexpr std::string_view kExamples =
    "nmt-score reference.de -i output.de\n"
    "nmt-score reference.de -i output.de -m bleu chrf -f text -w 2\n"
    "nmt-score reference.de -i base.de new.de --paired-bs\n"
    "nmt-score --segments base.comet new.comet --paired-bs -f text\n"
    "nmt-score gold.links -i output.links -m aer -f text";

/// Throws Error unless it is between -max and max.
template <typename Number>
Number number_of(const std::string& name, const std::string& text, Number max) {
  Number number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  const bool is_number = error == std::errc() && end == text.data() + text.size();
  if (!is_number || !(-max <= number && number <= max)) {  // nan is within no range
    const std::string limit = max < std::numeric_limits<Number>::max() ? fmt::format(" of at most {}", max) : "";
    throw Error(fmt::format("{} {}: give a {}number{}", name, text, std::is_integral_v<Number> ? "whole " : "", limit));
  }
  return number;
}

/// Rows of the table of options, group after group.
class ArgumentTable {
 public:
  explicit ArgumentTable(std::vector<ScoreArgument>& rows) : rows_(rows) {}
  void group(std::string name) { group_ = std::move(name); }

  OptionDescription& add(Strings names, std::string value, std::string help, decltype(ScoreArgument::store) store) {
    rows_.push_back({{.names = std::move(names), .value = std::move(value), .help = std::move(help), .group = group_},
                     std::move(store)});
    return rows_.back().shown;
  }

  void flag(Strings names, bool& target, std::string help) {
    add(std::move(names), "", std::move(help), [&target](const auto&, const auto&) { target = true; });
  }

  template <typename Target>
  void text(Strings names, std::string value, Target& target, std::string help, Strings choices = {}) {
    const auto store = [&target](const auto&, const Strings& values) { target = values.front(); };
    add(std::move(names), std::move(value), std::move(help), store).choices = std::move(choices);
  }

  void texts(Strings names, std::string value, Strings& target, std::string help, Strings choices = {}) {
    const auto store = [&target](const auto&, const Strings& values) { target = values; };
    auto& shown = add(std::move(names), std::move(value), std::move(help), store);
    shown.choices = std::move(choices);
    shown.several_values = true;
  }

  /// Number: the type of the target, or what it holds if it is optional.
  template <typename Number, typename Target>
  void number(Strings names, Target& target, std::string help, Number max = std::numeric_limits<Number>::max()) {
    add(std::move(names), std::is_integral_v<Number> ? "N" : "X", std::move(help),
        [&target, max](const auto& name, const Strings& values) { target = number_of(name, values.front(), max); });
  }

  template <typename Enum>
  void choice(Strings names, Enum& target, std::string help) {
    const auto store = [&target](const auto&, const Strings& values) { target = Choice<Enum>(values.front()); };
    add(std::move(names), "NAME", std::move(help), store).choices = {kNames<Enum>.begin(), kNames<Enum>.end()};
  }

 private:
  std::vector<ScoreArgument>& rows_;
  std::string group_;
};

void add_metrics(ArgumentTable& table, ScoreOptions& o) {
  table.group("Metrics");
  table.texts(
      {"-m", "--metrics"}, "NAME...", o.metrics,
      "which ones; default: bleu; aer: alignment error rate of lines of links; the last three are BLEU as older "
      "programs print it, for one system",
      {"bleu", "chrf", "ter", "aer", "multi-bleu", "multi-bleu-legacy", "nltk"});
  table.texts({"--segments"}, "FILE...", o.segments,
              "in place of texts: scores of segments from another program, one a line, or the output of comet-score");
  table.flag({"-sl", "--sentence-level"}, o.sentence_level, "a score for each segment, one metric");
  table.number<int64_t>({"--min-len"}, o.min_length, "only pairs with at least N words on both sides");
  table.number<int64_t>({"--max-len"}, o.max_length, "only pairs with at most N words on both sides");
  table.number<int64_t>({"--length-analysis"}, o.length_analysis,
                        "adds a table: scores by length of the reference, in steps of N words");
  table.group("BLEU");
  table.choice({"-s", "--smooth-method"}, o.bleu.smoothing, "smoothing of n-grams without a match; default: exp");
  table.number<double>({"-sv", "--smooth-value"}, o.bleu.smoothing_value,
                       "of floor (default: 0.1) and add-k (default: 1)", kMaxSmoothing);
  table.text({"-tok", "--tokenize"}, "NAME", o.tokenizer, "tokenizer; default: by the language, else 13a",
             tokenizer_names());
  table.flag({"-lc", "--lowercase"}, o.bleu.lowercase, "ignore case");
  table.flag({"--force"}, o.force, "no warning that the text looks tokenized");
  table.text({"--spm-model"}, "FILE", o.bleu.sentencepiece_model,
             "the model of spm, flores101, flores200, spBLEU-1K (default: sacreBLEU's download)");
  table.group("chrF");
  table.number<int>({"-cc", "--chrf-char-order"}, o.chrf.char_order,
                    "longest character n-grams, at most 1000 (default: 6)", kMaxChrfOrder);
  table.number<int>({"-cw", "--chrf-word-order"}, o.chrf.word_order,
                    "longest word n-grams, at most 1000 (default: 0; 2: chrF++)", kMaxChrfOrder);
  table.number<decltype(o.chrf.beta)>({"--chrf-beta"}, o.chrf.beta, "weight of recall (default: 2)");
  table.flag({"--chrf-whitespace"}, o.chrf.whitespace, "count white space as characters");
  table.flag({"--chrf-lowercase"}, o.chrf.lowercase, "ignore case");
  table.flag({"--chrf-eps-smoothing"}, o.chrf.eps_smoothing, "smooth as chrF++.py, NLTK and Moses do");
  table.group("TER");
  table.flag({"--ter-case-sensitive"}, o.ter.case_sensitive, "do not ignore case");
  table.flag({"--ter-asian-support"}, o.ter.asian_support,
             "with --ter-normalized and --ter-no-punct: East Asian characters too");
  table.flag({"--ter-no-punct"}, o.ter.no_punctuation, "remove punctuation");
  table.flag({"--ter-normalized"}, o.ter.normalized, "split punctuation");
}

void add_tests(ArgumentTable& table, ScoreOptions& o) {
  table.group("Significance");
  table.flag({"-ci", "--confidence"}, o.confidence, "95% confidence interval of one system, by bootstrap resampling");
  table.number<int64_t>({"-cin", "--confidence-n"}, o.confidence_samples, "resamples (default: 1000)");
  const auto paired = [&o](PairedTestKind kind) {
    return [&o, kind](const std::string& name, const Strings&) {
      if (o.paired.value_or(kind) != kind) throw Error(name + ": one of --paired-ar and --paired-bs, not both");
      o.paired = kind;
    };
  };
  table.add({"-par", "--paired-ar"}, "", "compare the systems with the first one, approximate randomization",
            paired(PairedTestKind::kApproximateRandomization));
  table.add({"-pbs", "--paired-bs"}, "", "compare the systems with the first one, paired bootstrap resampling",
            paired(PairedTestKind::kBootstrap));
  table.number<int64_t>({"-parn", "--paired-ar-n"}, o.trials, "trials (default: 10000)");
  table.number<int64_t>({"-pbsn", "--paired-bs-n"}, o.bootstrap_samples, "resamples (default: 1000)");
  table.add({"-j", "--paired-jobs"}, "N", "accepted; see --threads", [](const auto&, const auto&) {});
  table.number<int>({"--threads"}, o.threads,
                    "threads for everything, at most 1024 (default: 0, all processors); figures do not depend on it");
}

void add_output(ArgumentTable& table, ScoreOptions& o) {
  table.group("Output");
  table.flag({"-q", "--quiet"}, o.quiet, "no messages");
  table.flag({"-sh", "--short"}, o.short_signature, "short signatures");
  table.flag({"-b", "--score-only"}, o.score_only, "the score only");
  table.number<int>({"-w", "--width"}, o.width, "digits after the point, at most 1000 (default: 1; with --segments: 4)",
                    kMaxWidth);
  table.flag({"-d", "--detail"}, o.detail, "accepted; there are no built-in test sets to split");
  table.flag({"-nc", "--no-color"}, o.no_color, "no colours on a terminal");
  table.choice({"-f", "--format"}, o.style, "form of the output; default: json");
  table.flag({"-h", "--help"}, o.help, "this text");
  table.flag({"-V", "--version"}, o.version, "versions");
}

/// The options of sacreBLEU's own test sets.
void add_hidden(ArgumentTable& table, ScoreOptions& o) {
  table.group("");
  const auto store = [&o](const auto&, const auto&) { o.names_test_set = true; };
  for (const Strings& names : {Strings{"--cite", "--citation"}, {"--list"}}) table.add(names, "", "", store);
  for (const Strings& names : {Strings{"-t", "--test-set"}, {"-ol", "--origlang"}, {"--subset"}, {"--download"}})
    table.add(names, "NAME", "", store);
  table.add({"--echo"}, "NAME...", "", store).several_values = true;
}

/// What an option is called, and its help beside it or below.
std::string row(const std::string& first, const std::string& help) {
  constexpr size_t kColumn = 32;
  const bool fits = first.size() + 2 < kColumn;
  return fmt::format("  {:<{}}{}\n", fits ? first : first + "\n" + std::string(kColumn, ' '), fits ? kColumn - 2 : 0,
                     help);
}

}  // namespace

std::vector<ScoreArgument> score_arguments(ScoreOptions& options) {
  std::vector<ScoreArgument> rows;
  ArgumentTable table(rows);
  table.group("Text");
  table.text({"-l", "--language-pair"}, "SRC-TGT", options.language_pair,
             "chooses the tokenizer of BLEU for zh, ja and ko");
  table.texts({"-i", "--input"}, "FILE...", options.systems,
              "files of systems (default: standard input, systems separated by tabs)");
  table.number<int64_t>({"-nr", "--num-refs"}, options.fields,
                        "references a line of the one REFERENCE file, separated by tabs (default: 1)");
  table.text({"-e", "--encoding"}, "NAME", options.encoding, "encoding of all text (default: utf-8)");
  add_metrics(table, options);
  add_tests(table, options);
  add_output(table, options);
  add_hidden(table, options);
  return rows;
}

ProgramDescription score_description() {
  ProgramDescription program{
      .name = "nmt-score",
      .description = std::string(kDescription),
      .usage = "[OPTIONS] REFERENCE... [-i SYSTEM...]",
      .examples = std::string(kExamples),
      .exit_status =
          "0: done. 1: the text or the machine does not allow it. 2: the command line is wrong. 17: a "
          "line has another number of fields, separated by tabs, than expected.",
      .arguments = {{"REFERENCE...", "files of references, one segment a line; before -i"}},
      .options = {},
      .environment = {{"SACREBLEU_SEED", "seed of resampling (default: 12345), or none"},
                      {"SACREBLEU_FORMAT", "goes before --format"},
                      {"NO_COLOR", "as --no-color"}}};
  ScoreOptions unused;
  for (auto& argument : score_arguments(unused)) {
    if (!argument.shown.group.empty()) program.options.push_back(std::move(argument.shown));
  }
  return program;
}

std::string score_help() {
  const auto program = score_description();
  std::string text = fmt::format("usage: {} {}\n\n{}\n\nExamples:\n{}\n\nArguments:\n", program.name, program.usage,
                                 program.description, program.examples);
  for (const auto& [name, help] : program.arguments) text += row(name, help);
  std::string_view group;
  for (const auto& option : program.options) {
    if (option.group != group) text += fmt::format("\n{}:\n", group = option.group);
    const std::string choices = option.choices.empty() ? "" : fmt::format(" ({})", fmt::join(option.choices, ", "));
    text += row(fmt::format("{}{}{}", fmt::join(option.names, ", "), option.value.empty() ? "" : " ", option.value),
                option.help + choices);
  }
  text += "\nEnvironment:\n";
  for (const auto& [name, help] : program.environment) text += row(name, help);
  return text;
}

namespace {

/// "-w", "--width", "--"; but not "-", "-1" and "-.5", which are values.
bool is_option(const std::string& word) {
  return word.size() > 1 && word[0] == '-' && word[1] != '.' && !(word[1] >= '0' && word[1] <= '9');
}

/// Reads words: references, and options of any length behind one dash or two with their values: "-tok zh",
/// "--tokenize=zh", "-w4", "-qb".
class Parser {
 public:
  explicit Parser(const std::vector<std::string>& words) : words_(words), arguments_(score_arguments(options_)) {}

  ScoreOptions parse() {
    while (at_ < words_.size() && !options_.help && !options_.version) {
      if (words_[at_] == "--") {
        ++at_;
        take_references(words_.size());
      } else if (is_option(words_[at_])) {
        read_option(words_[at_++]);
      } else {
        take_references(end_of_values());
      }
    }
    return options_;
  }

 private:
  size_t end_of_values() const {
    return std::find_if(words_.begin() + static_cast<ptrdiff_t>(at_), words_.end(), is_option) - words_.begin();
  }

  void take_references(size_t end) {
    if (at_ < end && !options_.references.empty())
      throw Error(fmt::format("{}: unexpected here; all references stand together, before -i", words_[at_]));
    for (; at_ < end; ++at_) options_.references.push_back(words_[at_]);
  }

  const ScoreArgument* find(const std::string& name) const {
    const auto has_name = [&](const auto& argument) { return std::ranges::count(argument.shown.names, name) > 0; };
    const auto found = std::ranges::find_if(arguments_, has_name);
    return found == arguments_.end() ? nullptr : &*found;
  }

  void read_option(const std::string& word) {
    const size_t equals = word.find('=');
    const std::string name = word.substr(0, equals);
    if (const auto* argument = find(name)) {
      if (equals == std::string::npos) return store(*argument, name, values_behind(*argument, name));
      if (argument->shown.value.empty()) throw Error(name + ": is a flag; give it no value");
      return store(*argument, name, {word.substr(equals + 1)});
    }
    const std::string letter = word.substr(0, 2);
    const auto* argument = letter == "--" ? nullptr : find(letter);
    if (!argument) throw unknown(name);
    if (!argument->shown.value.empty()) return store(*argument, letter, {word.substr(2)});
    store(*argument, letter, {});
    read_option("-" + word.substr(2));
  }

  std::vector<std::string> values_behind(const ScoreArgument& argument, const std::string& name) {
    if (argument.shown.value.empty()) return {};
    const size_t begin = at_, end = end_of_values();
    if (begin == end) throw Error(name + ": give it a value");
    at_ = argument.shown.several_values ? end : begin + 1;
    return {words_.begin() + static_cast<ptrdiff_t>(begin), words_.begin() + static_cast<ptrdiff_t>(at_)};
  }

  static void store(const ScoreArgument& argument, const std::string& name, const std::vector<std::string>& values) {
    const auto& choices = argument.shown.choices;
    for (const auto& value : values) {
      if (!choices.empty() && std::ranges::find(choices, value) == choices.end())
        throw Error(fmt::format("{} {}: unknown; choose from {}", name, value, fmt::join(choices, ", ")));
    }
    argument.store(name, values);
  }

  Error unknown(const std::string& name) const {
    std::vector<std::string> names;
    for (const auto& argument : arguments_)
      names.insert(names.end(), argument.shown.names.begin(), argument.shown.names.end());
    const auto meant = name.starts_with("--") ? nearest_name(name, names) : std::nullopt;
    return Error(fmt::format("{}: no such option; {}", name, meant ? "did you mean " + *meant + "?" : "see --help"));
  }

  const std::vector<std::string>& words_;
  size_t at_ = 0;
  ScoreOptions options_;
  std::vector<ScoreArgument> arguments_;  // which point into options_
};

}  // namespace

ScoreOptions parse_score_options(const std::vector<std::string>& words) {
  ScoreOptions options = Parser(words).parse();
  check_threads("--threads", options.threads);
  if (const char* given = std::getenv("SACREBLEU_FORMAT")) {
    std::string name = given;
    for (char& c : name) c = static_cast<char>(c >= 'A' && c <= 'Z' ? c + 32 : c);
    Choice<TableStyle> style = options.style;
    if (style.assign(name)) options.style = style;
  }
  return options;
}

}  // namespace nmt::scoring
