#include "report/records/metrics_writer.h"

#include <fmt/format.h>

#include <chrono>
#include <optional>
#include <sstream>
#include <vector>

#include "base/files/file.h"
#include "base/process/progress.h"
#include "base/strict_json.h"
#include "report/pictures/attention_picture.h"
#include "report/records/validation_names.h"

namespace nmt {
namespace {

double seconds_since_1970() {
  return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
}

std::optional<UpdateLogKey> key_of_metrics(std::string_view line) {
  const auto parsed = parse_interval_line(line);
  if (!parsed) return std::nullopt;
  return UpdateLogKey{.update = parsed->interval.update};
}

std::optional<UpdateLogKey> key_of_validation(std::string_view line) {
  const auto parsed = parse_validation_line(line);
  if (!parsed) return std::nullopt;
  return UpdateLogKey{.update = parsed->update, .weights = parsed->weights};
}

std::optional<UpdateLogKey> key_of_session(std::string_view line) {
  const auto parsed = parse_session_line(line);
  if (!parsed) return std::nullopt;
  return UpdateLogKey{.update = parsed->update};
}

/// Removes those files of validations from a folder that `unwanted` says so of.
template <typename Condition>
void remove_files(const std::filesystem::path& folder, Condition unwanted) {
  if (!std::filesystem::exists(folder)) return;
  std::vector<std::filesystem::path> found;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    const auto update = update_of_file(entry.path());
    if (update && unwanted(entry.path(), *update)) found.push_back(entry.path());
  }
  for (const auto& file : found) std::filesystem::remove(file);
}

void write_beside_others(const std::filesystem::path& path, const std::string& text) {
  std::filesystem::create_directories(path.parent_path());
  write_file_atomically(path, text);
}

}  // namespace

MetricsWriter::MetricsWriter(const std::filesystem::path& run_directory, Facts environment,
                             std::vector<std::string> other_sets)
    : samples_(run_directory / "samples"),
      pictures_(run_directory / "attention"),
      translations_(run_directory / "translations"),
      validation_table_(run_directory / "validations.tsv"),
      environment_(std::move(environment)),
      other_sets_(std::move(other_sets)),
      metrics_(run_directory / "metrics.jsonl", "", key_of_metrics),
      validations_(validation_table_, std::string(kValidationHeader), key_of_validation),
      sessions_(run_directory / "sessions.jsonl", "", key_of_session) {}

void MetricsWriter::on_start(const TrainingStart& start) {
  truncate_after(start.update);
  session_ = {.update = start.update, .time = seconds_since_1970(), .environment = environment_};
  for (const auto& fact : Facts{{"device", start.device},
                                {"precision", start.precision},
                                {"threads", fmt::format("{}", start.threads)},
                                {"parameters", with_commas(start.parameters)}})
    session_.environment.push_back(fact);
  sessions_.append({.update = start.update}, format_session_line(session_));
}

void MetricsWriter::on_interval(const TrainingInterval& interval) {
  metrics_.append({.update = interval.update}, format_interval_line({interval, seconds_since_1970()}));
}

UpdateLog& MetricsWriter::log_of_set(const std::string& name) {
  const auto found = other_validations_.find(name);
  if (found != other_validations_.end()) return found->second;
  const auto path = validation_table_.parent_path() / other_validations_file(name);
  return other_validations_.try_emplace(name, path, std::string(kValidationHeader), key_of_validation).first->second;
}

void MetricsWriter::on_validation(const ValidationReport& report) {
  const auto add = [](UpdateLog& log, const ValidationReport& of_set) {
    const auto line = format_validation_line(of_set);
    log.append(*key_of_validation(line), line);
  };
  add(validations_, report);
  for (const auto& other : report.others) add(log_of_set(other.set), other);
  const auto stem = validation_stem(report);
  if (report.weights.empty()) last_ = stem;
  if (report.is_best) best_ = stem;
  write_attention(report, stem);
  write_texts(report, stem);
}

void MetricsWriter::write_texts(const ValidationReport& report, const std::string& stem) const {
  std::string samples;
  for (const auto& sample : report.samples) {
    samples += fmt::format("source: {}\nreference: {}\nhypothesis: {}\n\n", sample.source, sample.reference,
                           sample.hypothesis);
  }
  if (!samples.empty()) write_beside_others(samples_ / (stem + ".txt"), samples);
  if (report.hypotheses.empty() || (stem != best_ && stem != last_)) return;
  std::string translations;
  for (size_t i = 0; i < report.hypotheses.size(); ++i)
    translations += format_translation_line({report.sources[i], report.references[i], report.hypotheses[i]}) + "\n";
  write_beside_others(translations_ / (stem + ".tsv"), translations);
}

void MetricsWriter::write_attention(const ValidationReport& report, const std::string& stem) const {
  if (report.attention.empty()) return;
  if (const auto* grid = last_cross_attention(report.attention.front()))
    write_beside_others(pictures_ / (stem + ".svg"), attention_svg(*grid));
  if (stem != best_ && stem != last_) return;
  auto sentences = nlohmann::ordered_json::array();
  for (const auto& layers : report.attention) sentences.push_back(attention_json(cross_attention(layers)));
  nlohmann::ordered_json json = {{"sentences", std::move(sentences)}};
  if (!report.attention_lines.empty()) json["lines"] = report.attention_lines;
  write_beside_others(pictures_ / (stem + ".json"),
                      json.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace));
}

// Until a checkpoint stands, a run that is killed goes back to the one before, whose best and last are still there.
void MetricsWriter::on_checkpoint(int64_t) {
  const auto is_old = [&](const std::filesystem::path& path, int64_t) {
    return path.stem() != best_ && path.stem() != last_;
  };
  remove_files(translations_, is_old);
  remove_files(pictures_, [&](const std::filesystem::path& path, int64_t update) {
    return path.extension() == ".json" && is_old(path, update);
  });
}

void MetricsWriter::on_end(const std::string& reason) {
  session_.end_time = seconds_since_1970();
  session_.end = reason;
  sessions_.append({.update = session_.update}, format_session_line(session_));
}

void MetricsWriter::truncate_after(int64_t update) {
  metrics_.truncate_after(update);
  validations_.truncate_after(update);
  for (const auto& name : other_sets_) log_of_set(name).truncate_after(update);
  sessions_.truncate_after(update);
  for (const auto& folder : {samples_, pictures_, translations_})
    remove_files(folder, [update](const std::filesystem::path&, int64_t of_file) { return of_file > update; });
  best_.clear(), last_.clear();
  std::istringstream table(read_file(validation_table_));
  for (std::string line; std::getline(table, line);) {
    const auto report = parse_validation_line(line);
    if (!report) continue;  // the header
    if (report->weights.empty()) last_ = validation_stem(*report);
    if (report->is_best) best_ = validation_stem(*report);
  }
}

}  // namespace nmt
