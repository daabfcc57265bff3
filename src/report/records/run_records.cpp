#include "report/records/run_records.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <sstream>

#include "base/error.h"
#include "base/files/file.h"
#include "base/files/json_file.h"
#include "base/strict_json.h"
#include "config/loading/schema.h"
#include "report/pictures/attention_picture.h"
#include "report/records/validation_names.h"

namespace nmt {
namespace {

constexpr JsonLimits kAttentionLimits{.bytes = 512 << 20, .depth = 16, .values = 1 << 26};

/// The lines of a file that `parse` reads; none where there is no file.
template <typename Parse>
auto read_lines(const std::filesystem::path& path, Parse parse) {
  std::vector<typename decltype(parse(std::string_view()))::value_type> parsed;
  if (!std::filesystem::exists(path)) return parsed;
  std::istringstream text(read_file(path));
  for (std::string line; std::getline(text, line);)
    if (auto one = parse(line)) parsed.push_back(std::move(*one));
  return parsed;
}

void read_attention(const std::filesystem::path& path, ValidationReport& report) {
  report.attention.clear(), report.attention_lines.clear();
  if (!std::filesystem::exists(path)) return;
  try {
    const auto json = read_json_file(path, kAttentionLimits);
    for (const auto& sentence : json.at("sentences")) report.attention.push_back(attention_of_json(sentence));
    if (json.contains("lines")) json["lines"].get_to(report.attention_lines);
  } catch (const std::exception& error) {
    throw Error(fmt::format("{}: not as nmt-train writes it ({}); remove it", path.string(), error.what()));
  }
}

void add_texts(const std::filesystem::path& run, ValidationReport& report) {
  const auto stem = validation_stem(report);
  for (auto& sentence : read_lines(run / "translations" / (stem + ".tsv"), parse_translation_line)) {
    report.sources.push_back(std::move(sentence.source));
    report.references.push_back(std::move(sentence.reference));
    report.hypotheses.push_back(std::move(sentence.hypothesis));
  }
  read_attention(run / "attention" / (stem + ".json"), report);
}

std::optional<ValidationReport> shown_validation(const std::filesystem::path& run,
                                                 const std::vector<ValidationReport>& validations) {
  std::vector<ValidationReport> candidates(validations.rbegin(), validations.rend());
  std::stable_sort(candidates.begin(), candidates.end(),
                   [](const auto& a, const auto& b) { return a.is_best && !b.is_best; });
  for (auto& candidate : candidates) {
    add_texts(run, candidate);
    if (!candidate.hypotheses.empty() || !candidate.attention.empty()) return std::move(candidate);
  }
  return std::nullopt;
}

std::vector<ConfigDifference> changed_options(const std::string& yaml, const std::string& name) {
  try {
    return differences(Config(), parse_config(yaml, name).config);
  } catch (const Error&) {
    return {};  // of a version with other options
  }
}

std::string name_of(std::filesystem::path directory) {
  directory = std::filesystem::absolute(directory).lexically_normal();
  return (directory.has_filename() ? directory : directory.parent_path()).filename().string();
}

}  // namespace

RunRecords read_run(const std::filesystem::path& run_directory) {
  const auto config = run_directory / "config.yaml";
  if (!std::filesystem::exists(config))
    throw Error(fmt::format("{}: no run directory (it has no config.yaml); name one that nmt-train made",
                            run_directory.string()));
  RunRecords records;
  records.name = name_of(run_directory);
  records.intervals = read_lines(run_directory / "metrics.jsonl", parse_interval_line);
  records.validations = read_lines(run_directory / "validations.tsv", parse_validation_line);
  for (const auto& name : other_validation_sets(run_directory))
    records.other_validations[name] = read_lines(run_directory / other_validations_file(name), parse_validation_line);
  records.shown = shown_validation(run_directory, records.validations);
  records.sessions = read_lines(run_directory / "sessions.jsonl", parse_session_line);
  records.configuration = read_file(config);
  records.changed = changed_options(records.configuration, config.string());
  return records;
}

double seconds_of_training(const RunRecords& records) {
  double seconds = 0;
  auto line = records.intervals.begin();  // sessions and intervals both stand in the order of their updates
  for (size_t i = 0; i < records.sessions.size(); ++i) {
    const auto& session = records.sessions[i];
    const int64_t next =
        i + 1 < records.sessions.size() ? records.sessions[i + 1].update : std::numeric_limits<int64_t>::max();
    double end = session.end_time;
    // What a killed session did after the checkpoint that the next one went on from is lost.
    while (line != records.intervals.end() && line->interval.update <= session.update) ++line;
    for (; line != records.intervals.end() && line->interval.update <= next; ++line)
      if (line->time > end) end = line->time;
    seconds += std::max(0.0, end - session.time);
  }
  return seconds;
}

}  // namespace nmt
