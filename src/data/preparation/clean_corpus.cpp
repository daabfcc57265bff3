#include "data/preparation/clean_corpus.h"

#include <fmt/format.h>

#include <cstdint>
#include <limits>
#include <system_error>
#include <utility>

#include "base/error.h"
#include "base/files/file.h"
#include "base/process/log.h"
#include "base/threads.h"
#include "base/unicode.h"
#include "data/preparation/cleaning_report.h"
#include "data/preparation/encoder.h"
#include "data/preparation/training_text.h"

namespace nmt {
namespace {

namespace fs = std::filesystem;

/// Lengths are characters, and only their ratio counts.
CleaningOptions options_without_pieces(const DataConfig& data) {
  constexpr int64_t kAny = std::numeric_limits<int64_t>::max();
  CleaningOptions options = cleaning_options(data);
  options.source_markers = 0;
  options.maxlen1 = options.maxlen2 = kAny;
  return options;
}

/// DIR/STEM + ending of DIR/STEM.tsv.
fs::path beside(const fs::path& output, const char* ending) {
  return output.parent_path() / (output.stem().string() + ending);
}

}  // namespace

PreprocessResult clean_corpus(const Config& config, const CorpusCleaning& cleaning, Logger& log) {
  const DataConfig& data = config.data;
  const Shard& shard = cleaning.shard;
  std::error_code none;
  if (fs::equivalent(cleaning.input, cleaning.output, none))
    throw Error(
        fmt::format("--clean {}: is the input, which is never replaced; name another file", cleaning.output.string()));
  const ContentRules content(data.clean, data.source_language, data.target_language, cleaning.languages);
  const CleaningOptions options = options_without_pieces(data);
  AtomicFile kept(cleaning.output);
  CleaningReport report(beside(cleaning.output, ".dropped.tsv"), content, config.run.seed);
  const auto say = [&](const CorpusReader& reader, const char* note) {
    log.info("{}: {} pairs{}", reader.description(), with_commas(reader.count()), note);
    for (const auto& [text, is_warning] : reader.notes()) is_warning ? log.warn(text) : log.info(text);
  };
  const HeldOutText held_out =
      read_held_out(data, content, [&](const CorpusReader& reader) { say(reader, ", never filtered"); });
  CleaningRules rules(options, held_out, cleaning.output.has_parent_path() ? cleaning.output.parent_path() : ".");

  ReadingOptions reading = reading_options(data);
  if (data.bad_lines == BadLines::kSkip) reading.bad_lines = BadLinePolicy::kSkip;
  CorpusReader reader({cleaning.input, "", "--clean", ""}, reading);
  // A pipe of the shell has a number for a name.
  CleaningRow row{.name = (fs::is_regular_file(cleaning.input) ? cleaning.input.filename() : cleaning.input).string()};
  const auto transform = [&](EncodedPair& pair, int) {
    const auto source = normalised_text(pair.text.source, data);
    const Spelling spelling = shard.count > 1 ? content.source_spelling(source) : Spelling();
    pair.hashes.content.source = spelling;
    if (!shard.contains(spelling.hash)) return;
    const auto target = normalised_text(pair.text.target, data);
    pair.hashes = PairHashes(source, target);
    pair.hashes.content = content.judge(source, target);
    if (shard.count > 1) pair.hashes.content.source = spelling;  // without a rule judge() has none
  };
  ProgressBar progress("cleaning", 0, "pairs");
  int64_t number = 0;
  const auto take = [&](EncodedPair& pair) {
    progress.update(++number);
    if (!shard.contains(pair.hashes.content.source.hash)) return;
    const auto& [source, target] = pair.text;
    const Judgement judgement =
        rules.judge(pair.hashes, {count_code_points(source), count_code_points(target)}, row.counts);
    report.add(row.name, number, pair.text, pair.hashes.content, judgement);
    if (judgement.verdict != Verdict::kKept) return;
    if (shard.count > 1) kept.write(fmt::format("{}\t", number));
    kept.write(fmt::format("{}\t{}\n", tsv_column(source), tsv_column(target)));
  };
  Pulse pulse;
  bool stopped = false;
  const auto should_stop = [&] {
    if (pulse.is_due()) log.info("cleaning, {} pairs", with_commas(number));
    return stopped = cleaning.should_stop();
  };
  run_pairs(reader, config.run.threads > 0 ? static_cast<int>(config.run.threads) : default_threads(),
            {.transform = transform, .take = take, .should_stop = should_stop});
  progress.clear();
  if (stopped) return {PrepareOutcome::kStopped, ""};
  say(reader, "");
  row.counts.repaired_lines = reader.repaired_lines();
  for (const auto& warning : report.warnings(row)) log.warn("{}", warning);
  report.finish(beside(cleaning.output, ".html"));
  kept.commit();
  return {PrepareOutcome::kWritten, cleaning_table({row}, options)};
}

}  // namespace nmt
