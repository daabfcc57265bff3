#include "scoring/command/score_command.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <limits>
#include <ostream>

#include "base/code_points.h"
#include "base/process/program_description.h"
#include "base/process/version.h"
#include "base/strict_json.h"
#include "base/threads.h"
#include "base/unicode.h"
#include "scoring/command/command_error.h"
#include "scoring/command/score_arguments.h"
#include "scoring/command/score_options.h"
#include "scoring/command/scored_corpus_reader.h"
#include "scoring/corpus/resampling.h"
#include "scoring/metrics/length_analysis.h"
#include "scoring/metrics/original_bleu.h"
#include "scoring/significance/paired_statistics.h"

namespace nmt::scoring {
namespace {

constexpr int64_t kAnyLength = std::numeric_limits<int64_t>::max();
constexpr int64_t kTokenizedLines = 100;  // so many lines that end in " ." look tokenised
constexpr std::string_view kNoTestSets =
    "test sets by name are not part of nmt-score; get the files with sacreBLEU (sacrebleu -t SET -l SRC-TGT --echo ref "
    "> reference) and name them";

/// Not pipes, which can be read once only.
bool are_plain_files(const std::vector<std::string>& paths) {
  return std::all_of(paths.begin(), paths.end(),
                     [](const auto& path) { return std::filesystem::is_regular_file(path); });
}

/// One run of the command.
class ScoreCommand {
 public:
  ScoreCommand(ScoreOptions options, const CommandStreams& streams) : options_(std::move(options)), streams_(streams) {}

  void run() {
    check_options();
    choose_systems();
    reader_.emplace(source());
    check_systems();
    make_metrics();
    if (options_.sentence_level) return score_sentences();
    if ((options_.detail || options_.length_analysis) && options_.style == TableStyle::kJson)
      options_.style = TableStyle::kText;
    if (names_.size() == 1) return score_one_system();
    compare_systems();
  }

 private:
  [[noreturn]] static void fail(const std::string& message) { throw CommandError(kFailed, message); }

  void say(const std::string& message) const { streams_.messages << "nmt-score: " << message << '\n'; }

  void check_options() const {
    if (options_.download || options_.list) fail(std::string(kNoTestSets));
    if (options_.sentence_level && options_.metrics.size() > 1) fail("-sl: one metric only (-m)");
    if (options_.min_length < 0) fail(fmt::format("--min-len {}: 0 or more words", options_.min_length));
    if (options_.max_length && *options_.max_length < 1)
      fail(fmt::format("--max-len {}: 1 or more words", *options_.max_length));
    if (options_.max_length && *options_.max_length < options_.min_length)
      fail(fmt::format("--max-len {}: less than --min-len {}", *options_.max_length, options_.min_length));
    if (options_.length_analysis && *options_.length_analysis < 1)
      fail(fmt::format("--length-analysis {}: 1 or more", *options_.length_analysis));
    if (has_metric("multi-bleu-legacy") && options_.metrics.size() > 1) {
      fail("-m multi-bleu-legacy: reads the text otherwise; name it alone");
    }
    refuse_options_of_bleu(options_);
    if (options_.citation || options_.test_set) fail(std::string(kNoTestSets));
    if (options_.fields != 1 && options_.references.size() > 1) {
      fail("-nr: works with one reference file, whose lines hold the references separated by tabs");
    }
    if (options_.references.empty()) fail("no references; name their files before -i");
    if (options_.echo) fail(std::string(kNoTestSets));
    if (options_.language_pair && options_.language_pair->find('-') == std::string::npos) {
      fail(fmt::format("-l {}: write source and target, as in en-de", *options_.language_pair));
    }
  }

  /// Names systems by their files; what is given twice ends the run, but only after reading what comes before.
  void choose_systems() {
    if (!options_.systems) return;
    for (const std::string& name : *options_.systems) {
      if (std::find(names_.begin(), names_.end(), name) == names_.end()) {
        names_.push_back(name);
      } else if (!options_.paired || name != names_.front()) {
        repeated_ = name;
        return;
      }
    }
  }

  CorpusSource source() const {
    CorpusSource source{.references = options_.references,
                        .fields = options_.fields,
                        .systems = {},
                        .encoding = options_.encoding,
                        .cut_unended_lines = has_metric("multi-bleu-legacy"),
                        .keep_line_ends = options_.fields == 1 && has_multi_bleu()};
    if (options_.systems) source.systems = names_;
    return source;
  }

  void check_systems() {
    if (!repeated_.empty()) reader_->fail_after_reading(fmt::format("-i: '{}' is named twice", repeated_));
    if (!options_.systems) {
      const bool paired = options_.paired.has_value();
      for (size_t i = 0; i < reader_->systems(); ++i) {
        names_.push_back(paired && i == 0 ? "Baseline" : fmt::format("System {}", i + (paired ? 0 : 1)));
      }
    } else if (options_.paired && !names_.empty()) {
      names_.front() = "Baseline: " + names_.front();
    }
    const auto refuse = [&](bool condition, const std::string& message) {
      if (condition) reader_->fail_after_reading(message);
    };
    refuse(options_.paired && names_.empty(), "-i: no systems");
    refuse(options_.sentence_level && names_.size() > 1, "-sl: one system only");
    refuse(options_.sentence_level && names_.empty(), "-i: no systems");
    refuse(options_.sentence_level && (options_.confidence || options_.paired), "-sl: not with statistical tests");
    refuse(options_.paired && names_.size() == 1, "paired tests need several systems (-i)");
    refuse(names_.size() > 1 && options_.confidence, "--confidence: one system only; use --paired-bs");
    const bool of_one_system = names_.size() == 1 && !options_.sentence_level && !options_.confidence;
    for (const auto form : kOriginalForms) {
      const std::string name = original_form_name(form);
      refuse(has_metric(name) && !of_one_system, "-m " + name + ": for one system, without -sl and -ci");
    }
    refuse(options_.min_length > 0 && !of_one_system, "--min-len: for one system, without -sl and -ci");
    refuse(options_.max_length && !of_one_system, "--max-len: for one system, without -sl and -ci");
    refuse(options_.length_analysis && !of_one_system, "--length-analysis: for one system, without -sl and -ci");
    refuse(options_.origlang || options_.subset, std::string(kNoTestSets));
    options_.bleu.effective_order = options_.sentence_level;
  }

  std::string language() const {
    if (!options_.language_pair) return "";
    const std::string& pair = *options_.language_pair;
    const size_t start = pair.find('-') + 1;
    return pair.substr(start, pair.find('-', start) - start);
  }

  void make_metrics() {
    for (const std::string& name : options_.metrics) {
      const auto same = [&](const auto& metric) { return metric.first == name; };
      if (std::any_of(metrics_.begin(), metrics_.end(), same)) continue;
      try {
        metrics_.emplace_back(name, make_metric(name));
      } catch (const Error& error) {
        reader_->fail_after_reading(error.what());
      }
    }
    // A paired test keeps the order of the command line.
    if (!options_.paired) std::sort(metrics_.begin(), metrics_.end());
  }

  std::shared_ptr<const Metric> make_metric(const std::string& name) {
    if (name == "chrf") {
      const auto& [char_order, word_order] = std::pair(options_.chrf.char_order, options_.chrf.word_order);
      const bool no_ngrams = char_order <= 0 && word_order <= 0;
      if (no_ngrams || (options_.chrf.eps_smoothing && char_order + word_order == 0)) {
        throw Error("chrF needs n-grams of some order; raise -cc or -cw");
      }
      return std::make_shared<Chrf>(options_.chrf);
    }
    if (name == "ter") return std::make_shared<Ter>(options_.ter);
    for (const auto form : kOriginalForms) {
      if (name == original_form_name(form)) return std::make_shared<OriginalBleu>(form);
    }
    const std::string usual = tokenizer_for_language(language());
    options_.bleu.tokenizer = options_.tokenizer.value_or(usual);
    if (usual != "13a" && options_.bleu.tokenizer != usual) say("consider the tokenizer '" + usual + "' or 'spm' here");
    return std::make_shared<Bleu>(options_.bleu);
  }

  std::vector<std::shared_ptr<const Metric>> metrics() const {
    std::vector<std::shared_ptr<const Metric>> metrics;
    for (const auto& [name, metric] : metrics_) metrics.push_back(metric);
    return metrics;
  }

  bool has_metric(const std::string& name) const {
    return std::find(options_.metrics.begin(), options_.metrics.end(), name) != options_.metrics.end();
  }

  bool has_multi_bleu() const { return has_metric("multi-bleu") || has_metric("multi-bleu-legacy"); }

  /// Reads the whole corpus.
  CorpusStatistics gather(Keep keep) {
    CorpusStatistics statistics(metrics(), names_.size(), keep, options_.threads);
    std::vector<int64_t> tokenized(names_.size());
    SegmentBlock block;
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
    for (size_t s = 0; s < names_.size() && !options_.force && has_metric("bleu"); ++s) {
      if (tokenized[s] < kTokenizedLines) continue;
      say(fmt::format("{}: {} lines end in ' .': detokenize them, or the score is too low (--force: no warning)",
                      names_[s], tokenized[s]));
    }
    return statistics;
  }

  ScoreFormat score_format() const {
    return {.width = options_.width,
            .score_only = options_.score_only,
            .short_signature =
                options_.short_signature && (options_.sentence_level || options_.style != TableStyle::kJson)};
  }

  /// Prints as it goes, so everything is checked before: plain files are read twice, of others the output is kept.
  void score_sentences();
  void score_block(const SegmentBlock& block, std::string& out) const;
  void score_one_system();
  void compare_systems();
  TableFormat table_format() const;

  ScoreOptions options_;
  const CommandStreams& streams_;
  std::vector<std::string> names_;
  std::string repeated_;
  std::optional<CorpusReader> reader_;
  std::optional<LengthAnalysis> by_length_;
  std::vector<std::pair<std::string, std::shared_ptr<const Metric>>> metrics_;
};

void ScoreCommand::score_block(const SegmentBlock& block, std::string& out) const {
  const Metric& metric = *metrics_.front().second;
  const size_t columns = metric.columns();
  const ScoreFormat format = score_format();
  const auto references = static_cast<int64_t>(block.references.size());
  const Signature signature = metric.signature({.references = references});
  std::vector<std::string> lines(block.size());
  constexpr int64_t kGrain = 64;
  const int threads = options_.threads > 0 ? options_.threads : default_threads();
  parallel_for(block.size(), kGrain, threads, [&](int64_t begin, int64_t end) {
    const auto scorer = metric.segment_scorer();
    std::vector<double> statistics(columns);
    std::vector<std::string_view> texts(block.references.size());
    for (int64_t i = begin; i < end; ++i) {
      for (size_t set = 0; set < texts.size(); ++set) texts[set] = block.references[set][i];
      scorer->set_references(texts);
      scorer->statistics(block.hypotheses.front()[i], statistics);
      Score score = metric.score_of(statistics);
      score.signature = signature;
      lines[i] = score.format(format);
    }
  });
  for (const std::string& line : lines) out.append(line).append(1, '\n');
}

void ScoreCommand::score_sentences() {
  SegmentBlock block;
  std::string out;
  const bool readable_twice = options_.systems && are_plain_files(options_.references) && are_plain_files(names_);
  while (reader_->next(block)) {
    if (!readable_twice) score_block(block, out);
  }
  if (readable_twice) {
    reader_.emplace(source());
    while (reader_->next(block)) {
      out.clear();
      score_block(block, out);
      streams_.out << out;
    }
  } else {
    streams_.out << out;
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
    // sacreBLEU draws anew for each metric; with a fixed seed that is the same stream.
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
  if (by_length_) streams_.out << by_length_->table(options_.width);
  if (options_.detail) streams_.out << "No subset information found. Consider using --origlang argument.\n";
}

TableFormat ScoreCommand::table_format() const {
  const char* no_color = std::getenv("NO_COLOR");
  const bool colors = streams_.colors && !options_.no_color && !(no_color && *no_color);
  return {.style = options_.style,
          .width = options_.width,
          .short_signatures = options_.short_signature,
          .colors = colors,
          .samples_in_heading = {}};
}

void ScoreCommand::compare_systems() {
  TableFormat format = table_format();
  if (names_.empty()) {  // -i without files: sacreBLEU prints an empty list, and fails to draw a table
    reader_->check_rest();
    if (format.style != TableStyle::kJson) fail("-i: no systems");
    streams_.out << format_results(ScoreTable{}, format);
    return;
  }
  if (!options_.paired) {
    const CorpusStatistics statistics = gather(Keep::kSums);
    ScoreTable table{.systems = names_, .columns = {}};
    const SignatureFacts facts{.references = statistics.references()};
    for (size_t m = 0; m < metrics_.size(); ++m) {
      const Metric& metric = *metrics_[m].second;
      ScoreTable::Column column{.metric = metric.name(), .signature = metric.signature(facts), .scores = {}};
      for (size_t s = 0; s < names_.size(); ++s) column.scores.push_back(metric.score_of(statistics.sums(m, s)).score);
      table.columns.push_back(std::move(column));
    }
    streams_.out << format_results(table, format);
    return;
  }
  const CorpusStatistics statistics = gather(kept_for(*options_.paired));
  const bool is_bootstrap = options_.paired == PairedTestKind::kBootstrap;
  const int64_t samples = is_bootstrap ? options_.bootstrap_samples : options_.trials;
  format.samples_in_heading = samples;
  streams_.out << format_results(paired_test(statistics, names_,
                                             {.kind = *options_.paired,
                                              .samples = samples,
                                              .seed = Seed::from_environment(),
                                              .threads = options_.threads}),
                                 format);
}

}  // namespace

int run_score_command(const std::vector<std::string>& arguments, const CommandStreams& streams) {
  try {
    if (arguments == std::vector<std::string>{std::string(kDescribeOptions)}) {
      streams.out << to_json(score_description()).dump(1) << '\n';
      return 0;
    }
    ScoreOptions options = parse_score_options(arguments);
    if (options.help) {
      streams.out << score_help();
    } else if (options.version) {
      streams.out << fmt::format("nmt-score {} (figures and output of sacreBLEU {})\n", version(), kSacrebleuVersion);
    } else {
      ScoreCommand(std::move(options), streams).run();
    }
    return 0;
  } catch (const CommandError& error) {
    streams.messages << "nmt-score: " << error.what() << '\n';
    return error.exit_code();
  } catch (const Error& error) {
    streams.messages << "nmt-score: " << error.what() << '\n';
    return kFailed;
  }
}

}  // namespace nmt::scoring
