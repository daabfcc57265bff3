#include "report/records/run_records.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <limits>
#include <sstream>
#include <string_view>

#include "base/error.h"
#include "base/files/file.h"
#include "base/files/strict_json.h"
#include "config/loading/schema.h"
#include "report/pictures/attention_picture.h"

namespace nmt {
namespace {

constexpr size_t kDigits = 8;  // of the update in the names of files, as in those of checkpoints
constexpr std::string_view kDigit = "0123456789";

/// The number of the digits at the start of the text; nullopt where there are none, or too many.
std::optional<int64_t> leading_number(std::string_view text) {
  int64_t number = 0;
  if (std::from_chars(text.data(), text.data() + text.size(), number).ec != std::errc()) return std::nullopt;
  return number;
}

}  // namespace

// Two means at one update are of the last checkpoints and of the best. The last ones are all from the first of them on:
// other checkpoints that begin there are fewer. So the first and the count tell them apart, however many there are.
std::string averaged_updates(const std::string& weights) {
  int64_t count = 0, first = 0, last = 0;
  for (size_t at = 0; (at = weights.find_first_of(kDigit, at)) != std::string::npos;
       at = std::min(weights.find_first_not_of(kDigit, at), weights.size())) {
    const auto update = leading_number(std::string_view(weights).substr(at));
    if (!update) continue;  // no text of nmt-train
    if (++count == 1) first = *update;
    last = *update;
  }
  return count == 0 ? "" : fmt::format("of-{}-from-{}-to-{}", count, first, last);
}

std::string validation_stem(const ValidationReport& report) {
  auto stem = fmt::format("{:0{}}", report.update, kDigits);
  if (report.weights.empty()) return stem;
  const auto updates = averaged_updates(report.weights);
  return stem + (updates.empty() ? "-average" : "-average-" + updates);
}

std::optional<int64_t> update_of_file(const std::filesystem::path& path) {
  const std::string name = path.filename().string();
  if (std::min(name.find_first_not_of(kDigit), name.size()) < kDigits) return std::nullopt;
  return leading_number(name);
}

namespace {

using Json = nlohmann::ordered_json;

constexpr JsonLimits kLineLimits{.bytes = 1 << 20, .depth = 4, .values = 1 << 12};
constexpr size_t kValidationColumns = 12, kTranslationColumns = 3;

template <typename Number>
bool read_number(std::string_view text, Number& value) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size();
}

std::vector<std::string_view> split_tabs(std::string_view line) {
  std::vector<std::string_view> cells;
  for (size_t start = 0;;) {
    const size_t tab = line.find('\t', start);
    cells.push_back(line.substr(start, tab - start));
    if (tab == std::string_view::npos) return cells;
    start = tab + 1;
  }
}

/// Tabs and line ends would break the table.
std::string cell(std::string text) {
  for (char& c : text)
    if (c == '\t' || c == '\n' || c == '\r') c = ' ';
  return text;
}

Json parse_object(std::string_view line) {
  auto object = parse_json_or_null<Json>(line, kLineLimits);
  return object.is_object() ? object : Json();
}

double real(const Json& object, const char* key) {
  const auto found = object.find(key);
  return found != object.end() && found->is_number() ? found->get<double>() : std::numeric_limits<double>::quiet_NaN();
}

int64_t whole(const Json& object, const char* key) {
  const auto found = object.find(key);
  return found != object.end() ? whole_number(*found).value_or(0) : 0;
}

bool has_update(const Json& object) {
  return object.is_object() && object.contains("update") && whole_number(object["update"]);
}

}  // namespace

std::string format_interval_line(const LoggedInterval& line) {
  const auto& i = line.interval;
  const Json seconds_left = i.seconds_left < 0 ? Json() : Json(i.seconds_left);
  return Json{{"epoch", i.epoch},
              {"update", i.update},
              {"loss", i.loss},
              {"perplexity", i.perplexity},
              {"accuracy", i.accuracy},
              {"learning_rate", i.learning_rate},
              {"gradient_norm", i.gradient_norm},
              {"source_tokens_per_second", i.source_tokens_per_second},
              {"target_tokens_per_second", i.target_tokens_per_second},
              {"real_token_share", i.real_token_share},
              {"target_tokens", i.target_tokens},
              {"skipped_updates", i.skipped_updates},
              {"seconds_left", seconds_left},
              {"time", line.time}}
      .dump();
}

std::optional<LoggedInterval> parse_interval_line(std::string_view line) {
  const auto object = parse_object(line);
  if (!has_update(object)) return std::nullopt;
  const double left = real(object, "seconds_left");
  return LoggedInterval{.interval = {.epoch = whole(object, "epoch"),
                                     .update = whole(object, "update"),
                                     .loss = real(object, "loss"),
                                     .perplexity = real(object, "perplexity"),
                                     .accuracy = real(object, "accuracy"),
                                     .learning_rate = real(object, "learning_rate"),
                                     .gradient_norm = real(object, "gradient_norm"),
                                     .source_tokens_per_second = real(object, "source_tokens_per_second"),
                                     .target_tokens_per_second = real(object, "target_tokens_per_second"),
                                     .real_token_share = real(object, "real_token_share"),
                                     .target_tokens = whole(object, "target_tokens"),
                                     .skipped_updates = whole(object, "skipped_updates"),
                                     .seconds_left = left >= 0 ? left : -1},
                        .time = real(object, "time")};
}

std::string format_validation_line(const ValidationReport& r) {
  return fmt::format("{}\t{}\t{}\t{:.5f}\t{:.4f}\t{:.5f}\t{}\t{}\t{:.1f}\t{}\t{}\t{}", r.is_best ? "*" : "", r.epoch,
                     r.update, r.loss, r.perplexity, r.accuracy, r.has_bleu ? fmt::format("{:.2f}", r.bleu) : "",
                     r.has_chrf ? fmt::format("{:.2f}", r.chrf) : "", r.seconds, cell(r.weights), cell(r.bleu_line),
                     cell(r.chrf_line));
}

std::string other_validations_file(const std::string& name) { return fmt::format("validations.{}.tsv", name); }

std::vector<std::string> other_validation_sets(const std::filesystem::path& run_directory) {
  constexpr std::string_view kBefore = "validations.", kBehind = ".tsv";
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(run_directory)) {
    const auto file = entry.path().filename().string();
    if (file.size() <= kBefore.size() + kBehind.size() || !file.starts_with(kBefore) || !file.ends_with(kBehind))
      continue;
    names.push_back(file.substr(kBefore.size(), file.size() - kBefore.size() - kBehind.size()));
  }
  std::sort(names.begin(), names.end());
  return names;
}

std::optional<ValidationReport> parse_validation_line(std::string_view line) {
  const auto cells = split_tabs(line);
  if (cells.size() != kValidationColumns) return std::nullopt;
  ValidationReport r{.has_bleu = !cells[6].empty(),
                     .has_chrf = !cells[7].empty(),
                     .bleu_line = std::string(cells[10]),
                     .chrf_line = std::string(cells[11]),
                     .is_best = cells[0] == "*",
                     .weights = std::string(cells[9])};
  const bool is_whole = read_number(cells[1], r.epoch) && read_number(cells[2], r.update) && r.update >= 0 &&
                        read_number(cells[3], r.loss) && read_number(cells[4], r.perplexity) &&
                        read_number(cells[5], r.accuracy) && (!r.has_bleu || read_number(cells[6], r.bleu)) &&
                        (!r.has_chrf || read_number(cells[7], r.chrf)) && read_number(cells[8], r.seconds);
  if (!is_whole) return std::nullopt;
  return r;
}

std::string format_session_line(const Session& session) {
  Json environment = Json::object();
  for (const auto& [what, which] : session.environment) environment[what] = which;
  Json line = {{"update", session.update}, {"time", session.time}};
  if (session.end_time > 0) line.update({{"end_time", session.end_time}, {"end", session.end}});
  line["environment"] = std::move(environment);
  return line.dump(-1, ' ', false, Json::error_handler_t::replace);
}

std::optional<Session> parse_session_line(std::string_view line) {
  const auto object = parse_object(line);
  if (!has_update(object) || !object.contains("time") || !object["time"].is_number()) return std::nullopt;
  Session session{.update = object["update"], .time = object["time"]};
  if (object.contains("end_time") && object["end_time"].is_number()) session.end_time = object["end_time"];
  if (object.contains("end") && object["end"].is_string()) session.end = object["end"];
  if (object.contains("environment") && object["environment"].is_object())
    for (const auto& [what, which] : object["environment"].items())
      if (which.is_string()) session.environment.emplace_back(what, which);
  return session;
}

std::string format_translation_line(const TranslationSample& sentence) {
  return fmt::format("{}\t{}\t{}", cell(sentence.source), cell(sentence.reference), cell(sentence.hypothesis));
}

std::optional<TranslationSample> parse_translation_line(std::string_view line) {
  const auto cells = split_tabs(line);
  if (cells.size() != kTranslationColumns) return std::nullopt;
  return TranslationSample{
      .source = std::string(cells[0]), .reference = std::string(cells[1]), .hypothesis = std::string(cells[2])};
}

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
    // What a killed session did after the checkpoint that the next one resumed from is lost.
    while (line != records.intervals.end() && line->interval.update <= session.update) ++line;
    for (; line != records.intervals.end() && line->interval.update <= next; ++line)
      if (line->time > end) end = line->time;
    seconds += std::max(0.0, end - session.time);
  }
  return seconds;
}

}  // namespace nmt
