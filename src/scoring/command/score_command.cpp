#include "scoring/command/score_command.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <limits>
#include <optional>
#include <ostream>
#include <span>

#include "base/files/strict_json.h"
#include "base/process/program_description.h"
#include "base/unicode.h"
#include "scoring/command/score_arguments.h"
#include "scoring/command/scored_corpus_reader.h"
#include "scoring/corpus/paired_test.h"
#include "scoring/corpus/resampling.h"
#include "scoring/metrics/alignment_error_rate.h"
#include "scoring/metrics/length_analysis.h"
#include "scoring/metrics/original_bleu.h"
#include "scoring/metrics/segment_scores.h"

namespace nmt::scoring {
namespace {

constexpr int64_t kAnyLength = std::numeric_limits<int64_t>::max();
constexpr int64_t kTokenizedLines = 100;  // so many lines that end in " ." look tokenised
constexpr std::string_view kNoTestSets =
    "test sets by name are not part of nmt-score; get the files with sacreBLEU (sacrebleu -t SET -l SRC-TGT --echo ref "
    "> reference) and name them";

bool is_original(const std::string& metric) {
  return std::ranges::find(kNames<OriginalForm>, metric) != kNames<OriginalForm>.end();
}

[[noreturn]] void fail(const std::string& message) { throw Error(message); }

void refuse(bool is_wrong, const std::string& message) {
  if (is_wrong) fail(message);
}

/// What contradicts itself whatever the text is.
void check(const ScoreOptions& options) {
  const auto& metrics = options.metrics;
  refuse(options.names_test_set, std::string(kNoTestSets));
  if (!options.segments.empty()) {
    refuse(!options.references.empty() || !options.systems.empty() || !metrics.empty() || options.sentence_level ||
               options.min_length > 0 || options.max_length || options.length_analysis,
           "--segments: the scores are given; leave out texts and what is said of them");
    return;
  }
  refuse(options.references.empty(), "no references; name their files before -i");
  refuse(options.sentence_level && metrics.size() > 1, "-sl: one metric only (-m)");
  refuse(options.sentence_level && (options.confidence || options.paired), "-sl: not with statistical tests");
  refuse(options.min_length < 0, fmt::format("--min-len {}: 0 or more words", options.min_length));
  const int64_t max_length = options.max_length.value_or(kAnyLength);
  refuse(max_length < 1, fmt::format("--max-len {}: 1 or more words", max_length));
  refuse(max_length < options.min_length,
         fmt::format("--max-len {}: less than --min-len {}", max_length, options.min_length));
  const int64_t step = options.length_analysis.value_or(1);
  refuse(step < 1, fmt::format("--length-analysis {}: 1 or more", step));
  refuse(metrics.size() > 1 && std::ranges::count(metrics, "multi-bleu-legacy") > 0,
         "-m multi-bleu-legacy: reads the text otherwise; name it alone");
  refuse(options.fields != 1 && options.references.size() > 1,
         "-nr: works with one reference file, whose lines hold the references separated by tabs");
  refuse(!options.language_pair.empty() && options.language_pair.find('-') == std::string::npos,
         fmt::format("-l {}: write source and target, as in en-de", options.language_pair));
  if (!std::ranges::all_of(metrics, is_original)) return;
  const std::string why = fmt::format(": not for -m {}, which takes the text as it is", metrics.front());
  refuse(options.bleu.lowercase, "-lc" + why);
  refuse(options.tokenizer.has_value(), "-tok" + why);
  refuse(options.bleu.smoothing != BleuSmoothing::kExponential, "-s" + why);
  refuse(options.bleu.smoothing_value.has_value(), "-sv" + why);
}

/// One run of the command.
class ScoreCommand {
 public:
  ScoreCommand(ScoreOptions options, const CommandStreams& streams) : options_(std::move(options)), streams_(streams) {
    if (options_.metrics.empty() && options_.segments.empty()) options_.metrics = {"bleu"};
  }

  void run() {
    check(options_);
    options_.segments.empty() ? open_texts() : open_segments();
    if (options_.sentence_level) return score_sentences();
    if ((options_.detail || options_.length_analysis) && options_.style == TableStyle::kJson)
      options_.style = TableStyle::kText;
    names_.size() == 1 ? score_one_system() : compare_systems();
  }

 private:
  void open_texts() {
    name_systems();
    reader_.emplace(CorpusSource{.references = options_.references,
                                 .fields = options_.fields,
                                 .systems = names_,
                                 .encoding = options_.encoding,
                                 .cut_unended_lines = has_metric("multi-bleu-legacy"),
                                 .keep_line_ends = options_.fields == 1 && has_multi_bleu()});
    check_systems();
    make_metrics();
  }

  void open_segments() {
    given_ = read_segment_scores(options_.segments);
    for (const auto& system : given_.systems) options_.systems.push_back(system.name);
    names_ = options_.systems;
    check_systems();
    metrics_.emplace_back("segments", std::make_shared<MeanScore>(given_.metric));
  }

  void say(const std::string& message) const {
    if (!options_.quiet) streams_.messages << "nmt-score: " << message << '\n';
  }

  /// Names the systems by their files. In a paired test the baseline may be named again.
  void name_systems() {
    for (const std::string& name : options_.systems) {
      if (std::ranges::count(names_, name) == 0) {
        names_.push_back(name);
      } else {
        refuse(!options_.paired || name != names_.front(), fmt::format("-i: '{}' is named twice", name));
      }
    }
  }

  void check_systems() {
    const bool is_paired = options_.paired.has_value();
    if (options_.systems.empty()) {
      for (size_t i = 0; i < reader_->systems(); ++i)
        names_.push_back(is_paired && i == 0 ? "Baseline" : fmt::format("System {}", i + (is_paired ? 0 : 1)));
    } else if (is_paired) {
      names_.front() = "Baseline: " + names_.front();
    }
    const bool is_one = names_.size() == 1;
    refuse(options_.sentence_level && !is_one, "-sl: one system only");
    refuse(is_paired && is_one, "paired tests need several systems (-i)");
    refuse(options_.confidence && !is_one, "--confidence: one system only; use --paired-bs");
    if (is_one && !options_.sentence_level && !options_.confidence) return;
    const std::string why = ": for one system, without -sl and -ci";
    for (const std::string& name : options_.metrics) refuse(is_original(name), "-m " + name + why);
    refuse(options_.min_length > 0, "--min-len" + why);
    refuse(options_.max_length.has_value(), "--max-len" + why);
    refuse(options_.length_analysis.has_value(), "--length-analysis" + why);
  }

  void make_metrics() {
    for (const std::string& name : options_.metrics) {
      const auto is_same = [&](const auto& metric) { return metric.first == name; };
      if (std::ranges::none_of(metrics_, is_same)) metrics_.emplace_back(name, make_metric(name));
    }
    // A paired test keeps the order of the command line.
    if (!options_.paired) std::sort(metrics_.begin(), metrics_.end());
  }

  std::shared_ptr<const Metric> make_metric(const std::string& name) {
    if (name == "chrf") {
      const auto& [char_order, word_order] = std::pair(options_.chrf.char_order, options_.chrf.word_order);
      const bool no_ngrams = char_order <= 0 && word_order <= 0;
      if (no_ngrams || (options_.chrf.eps_smoothing && char_order + word_order == 0)) {
        fail("chrF needs n-grams of some order; raise -cc or -cw");
      }
      return std::make_shared<Chrf>(options_.chrf);
    }
    if (name == "aer") return std::make_shared<AlignmentErrorRate>();
    if (name == "ter") return std::make_shared<Ter>(options_.ter);
    if (is_original(name)) return std::make_shared<OriginalBleu>(Choice<OriginalForm>(name));
    const std::string target = options_.language_pair.substr(options_.language_pair.find('-') + 1);
    const std::string usual = tokenizer_for_language(target.substr(0, target.find('-')));
    options_.bleu.tokenizer = options_.tokenizer.value_or(usual);
    options_.bleu.effective_order = options_.sentence_level;
    if (usual != "13a" && options_.bleu.tokenizer != usual) say("consider the tokenizer '" + usual + "' or 'spm' here");
    return std::make_shared<Bleu>(options_.bleu);
  }

  std::vector<std::shared_ptr<const Metric>> metrics() const {
    std::vector<std::shared_ptr<const Metric>> metrics;
    for (const auto& [name, metric] : metrics_) metrics.push_back(metric);
    return metrics;
  }

  bool has_metric(const std::string& name) const { return std::ranges::count(options_.metrics, name) > 0; }

  bool has_multi_bleu() const { return has_metric("multi-bleu") || has_metric("multi-bleu-legacy"); }

  /// Reads the whole corpus.
  CorpusStatistics gather(Keep keep) {
    CorpusStatistics statistics(metrics(), names_.size(), keep, options_.threads);
    std::vector<int64_t> tokenized(names_.size());
    SegmentBlock block;
    for (const auto& system : given_.systems)
      block.hypotheses.emplace_back(system.hypotheses.begin(), system.hypotheses.end());
    if (!reader_) {
      block.references = {block.hypotheses.front()};  // which nobody looks at
      statistics.add(block);
      return statistics;
    }
    while (reader_->next(block)) {
      if (options_.min_length > 0 || options_.max_length)
        block = with_words(block, options_.min_length, options_.max_length.value_or(kAnyLength));
      if (block.size() == 0) continue;
      statistics.add(block);
      if (by_length_) by_length_->add(block);
      const auto looks_tokenized = [&](std::string_view line) {
        return (block.has_line_ends ? strip_end(line) : line).ends_with(" .");
      };
      for (size_t s = 0; s < names_.size(); ++s) {
        tokenized[s] += std::ranges::count_if(block.hypotheses[s], looks_tokenized);
      }
    }
    if (statistics.segments() == 0) {
      fail(options_.max_length
               ? fmt::format("--max-len {}: no pair has {} to {} words on both sides", *options_.max_length,
                             options_.min_length, *options_.max_length)
               : fmt::format("--min-len {}: no pair has so many words on both sides", options_.min_length));
    }
    const bool warns = has_metric("bleu") && !options_.force && !options_.sentence_level;
    for (size_t s = 0; s < names_.size(); ++s) {
      if (!warns || tokenized[s] < kTokenizedLines) continue;
      say(fmt::format("{}: {} lines end in ' .': detokenize them, or the score is too low (--force: no warning)",
                      names_[s], tokenized[s]));
    }
    return statistics;
  }

  int width() const {
    constexpr int kTexts = 1, kSegments = 4;  // digits, as sacreBLEU and as comet-score
    return options_.width.value_or(reader_ ? kTexts : kSegments);
  }

  ScoreFormat score_format() const {
    return {.width = width(),
            .score_only = options_.score_only,
            .short_signature =
                options_.short_signature && (options_.sentence_level || options_.style != TableStyle::kJson)};
  }

  void score_sentences();
  void score_one_system();
  PairedTable plain_scores();
  PairedTable tested_scores(PairedTestKind kind);
  void compare_systems();
  TableFormat table_format() const;

  ScoreOptions options_;
  const CommandStreams& streams_;
  std::vector<std::string> names_;
  std::optional<CorpusReader> reader_;
  SegmentScores given_;  // where there are no texts to read
  std::optional<LengthAnalysis> by_length_;
  std::vector<std::pair<std::string, std::shared_ptr<const Metric>>> metrics_;
};

void ScoreCommand::score_sentences() {
  const CorpusStatistics statistics = gather(Keep::kExact);
  const Metric& metric = *metrics_.front().second;
  const Signature signature = metric.signature({.references = statistics.references()});
  const size_t columns = metric.columns();
  std::span<const double> rest = statistics.exact(0, 0);
  for (; !rest.empty(); rest = rest.subspan(columns)) {
    Score score = metric.score_of(rest.first(columns));
    score.signature = signature;
    streams_.out << score.format(score_format()) << '\n';
  }
}

void ScoreCommand::score_one_system() {
  const int64_t samples = options_.confidence ? options_.confidence_samples : 1;
  if (options_.length_analysis) by_length_.emplace(metrics(), *options_.length_analysis, options_.threads);
  const CorpusStatistics statistics = gather(samples > 1 ? Keep::kFloat32 : Keep::kSums);
  SignatureFacts facts{.references = statistics.references()};
  std::vector<ResampledScores> resamples;
  if (samples > 1) {
    const Seed seed = Seed::from_environment();
    facts.bootstrap = samples;
    facts.seed = seed.text;
    // sacreBLEU draws again for each metric; with a fixed seed that is the same stream.
    for (size_t m = 0; m < metrics_.size(); ++m) {
      const ResampledSystem system{metrics_[m].second.get(), &statistics.resample_matrix(m, 0)};
      resamples.push_back(
          bootstrap(std::span(&system, 1), {.samples = samples, .seed = seed, .threads = options_.threads}).front());
    }
  }
  std::vector<std::string> lines;
  for (size_t m = 0; m < metrics_.size(); ++m) {
    Score score = metrics_[m].second->score_of(statistics.sums(m, 0));
    if (samples > 1) score.confidence = confidence_interval(resamples[m]);
    score.signature = metrics_[m].second->signature(facts);
    lines.push_back(options_.style == TableStyle::kJson ? score.format_json(score_format())
                                                        : score.format(score_format()));
  }
  streams_.out << format_single_results(lines, table_format());
  if (by_length_) streams_.out << by_length_->table(width());
  if (options_.detail) streams_.out << "No subset information found. Consider using --origlang argument.\n";
}

TableFormat ScoreCommand::table_format() const {
  const char* no_color = std::getenv("NO_COLOR");
  return {.style = options_.style,
          .width = width(),
          .short_signatures = options_.short_signature,
          .colors = streams_.colors && !options_.no_color && !(no_color && *no_color)};
}

PairedTable ScoreCommand::plain_scores() {
  const CorpusStatistics statistics = gather(Keep::kSums);
  PairedTable table{.systems = names_};
  for (size_t m = 0; m < metrics_.size(); ++m) {
    const Metric& metric = *metrics_[m].second;
    auto& column = table.columns.emplace_back(
        PairedColumn{.metric = metric.name(), .signature = metric.signature({.references = statistics.references()})});
    for (size_t s = 0; s < names_.size(); ++s)
      column.results.push_back({.score = metric.score_of(statistics.sums(m, s)).score});
  }
  return table;
}

PairedTable ScoreCommand::tested_scores(PairedTestKind kind) {
  const int64_t samples = kind == PairedTestKind::kBootstrap ? options_.bootstrap_samples : options_.trials;
  PairedTable table =
      paired_test(gather(kept_for(kind)), names_,
                  {.kind = kind, .samples = samples, .seed = Seed::from_environment(), .threads = options_.threads});
  table.samples = samples;  // the heading names those asked for, which may be 0
  return table;
}

void ScoreCommand::compare_systems() {
  const PairedTable table = options_.paired ? tested_scores(*options_.paired) : plain_scores();
  streams_.out << format_results(table, table_format());
}

}  // namespace

int run_score_command(const std::vector<std::string>& arguments, const CommandStreams& streams) {
  const auto failed = [&](const Error& error, ScoreExit code) {
    streams.messages << "nmt-score: " << error.what() << '\n';
    return code;
  };
  if (arguments == std::vector<std::string>{std::string(kDescribeOptions)}) {
    streams.out << to_json(score_description()).dump(1) << '\n';
    return kScored;
  }
  ScoreOptions options;
  try {
    options = parse_score_options(arguments);
  } catch (const Error& error) {
    return failed(error, kBadArguments);
  }
  try {
    if (options.help) {
      streams.out << score_help();
    } else if (options.version) {
      streams.out << fmt::format("nmt-score {} (figures and output of sacreBLEU {})\n", version(), kSacrebleuVersion);
    } else {
      ScoreCommand(std::move(options), streams).run();
    }
    return kScored;
  } catch (const FieldCountError& error) {
    return failed(error, kWrongFieldCount);
  } catch (const Error& error) {
    return failed(error, kFailed);
  }
}

}  // namespace nmt::scoring
