#include "report/metrics_writer.h"

#include <fmt/format.h>

#include <charconv>
#include <chrono>
#include <nlohmann/json.hpp>
#include <optional>
#include <vector>

#include "base/file.h"
#include "report/attention_picture.h"

namespace nmt {
namespace {

constexpr const char* kHeader =
    "best\tepoch\tupdate\tloss\tperplexity\taccuracy\tbleu\tchrf\tseconds\tweights\tbleu_line\tchrf_line";
constexpr size_t kUpdateColumn = 2, kWeightsColumn = 9, kColumns = 12;
constexpr size_t kDigits = 8;  // of the update in the names of samples, as in those of checkpoints

double seconds_since_1970() {
  return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
}

std::optional<int64_t> parse_update(std::string_view text) {
  int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || value < 0) return std::nullopt;
  return value;
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

std::optional<UpdateLogKey> key_of_metrics(std::string_view line) {
  const auto object = nlohmann::json::parse(line, nullptr, /*allow_exceptions=*/false);
  if (!object.is_object() || !object.contains("update") || !object["update"].is_number_integer()) return std::nullopt;
  return UpdateLogKey{.update = object["update"], .weights = ""};
}

std::optional<UpdateLogKey> key_of_validation(std::string_view line) {
  const auto cells = split_tabs(line);
  if (cells.size() != kColumns) return std::nullopt;
  const auto update = parse_update(cells[kUpdateColumn]);
  if (!update) return std::nullopt;
  return UpdateLogKey{.update = *update, .weights = std::string(cells[kWeightsColumn])};
}

/// Tabs and line ends would break the table.
std::string cell(std::string text) {
  for (char& c : text) {
    if (c == '\t' || c == '\n' || c == '\r') c = ' ';
  }
  return text;
}

std::string validation_line(const ValidationReport& r) {
  return fmt::format("{}\t{}\t{}\t{:.5f}\t{:.4f}\t{:.5f}\t{}\t{}\t{:.1f}\t{}\t{}\t{}", r.is_best ? "*" : "", r.epoch,
                     r.update, r.loss, r.perplexity, r.accuracy, r.has_bleu ? fmt::format("{:.2f}", r.bleu) : "",
                     r.has_chrf ? fmt::format("{:.2f}", r.chrf) : "", r.seconds, cell(r.weights), cell(r.bleu_line),
                     cell(r.chrf_line));
}

std::string file_name(const ValidationReport& report, const char* extension) {
  return fmt::format("{:0{}}{}.{}", report.update, kDigits, report.weights.empty() ? "" : "-average", extension);
}

/// Removes the files of later updates from a folder of such files.
void remove_later_files(const std::filesystem::path& folder, int64_t update) {
  if (!std::filesystem::exists(folder)) return;
  std::vector<std::filesystem::path> later;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    const std::string name = entry.path().filename().string();
    const auto digits = std::string_view(name).substr(0, name.find_first_not_of("0123456789"));
    const auto of_update = parse_update(digits);
    if (of_update && digits.size() >= kDigits && *of_update > update) later.push_back(entry.path());
  }
  for (const auto& file : later) std::filesystem::remove(file);
}

}  // namespace

MetricsWriter::MetricsWriter(const std::filesystem::path& run_directory)
    : samples_(run_directory / "samples"),
      pictures_(run_directory / "attention"),
      metrics_(run_directory / "metrics.jsonl", "", key_of_metrics),
      validations_(run_directory / "validations.tsv", kHeader, key_of_validation) {}

void MetricsWriter::on_interval(const TrainingInterval& interval) {
  const nlohmann::ordered_json seconds_left =
      interval.seconds_left < 0 ? nlohmann::ordered_json() : nlohmann::ordered_json(interval.seconds_left);
  const nlohmann::ordered_json line = {{"epoch", interval.epoch},
                                       {"update", interval.update},
                                       {"loss", interval.loss},
                                       {"perplexity", interval.perplexity},
                                       {"accuracy", interval.accuracy},
                                       {"learning_rate", interval.learning_rate},
                                       {"gradient_norm", interval.gradient_norm},
                                       {"source_tokens_per_second", interval.source_tokens_per_second},
                                       {"target_tokens_per_second", interval.target_tokens_per_second},
                                       {"real_token_share", interval.real_token_share},
                                       {"target_tokens", interval.target_tokens},
                                       {"skipped_updates", interval.skipped_updates},
                                       {"seconds_left", seconds_left},
                                       {"time", seconds_since_1970()}};
  metrics_.append({.update = interval.update, .weights = ""}, line.dump());
}

void MetricsWriter::on_validation(const ValidationReport& report) {
  validations_.append({.update = report.update, .weights = cell(report.weights)}, validation_line(report));
  if (const auto* grid = last_cross_attention(report.attention)) {
    std::filesystem::create_directories(pictures_);
    write_file_atomically(pictures_ / file_name(report, "svg"), attention_svg(*grid));
  }
  if (report.samples.empty()) return;
  std::string text;
  for (const auto& sample : report.samples) {
    text += fmt::format("source: {}\nreference: {}\nhypothesis: {}\n\n", sample.source, sample.reference,
                        sample.hypothesis);
  }
  std::filesystem::create_directories(samples_);
  write_file_atomically(samples_ / file_name(report, "txt"), text);
}

void MetricsWriter::truncate_after(int64_t update) {
  metrics_.truncate_after(update);
  validations_.truncate_after(update);
  for (const auto& folder : {samples_, pictures_}) remove_later_files(folder, update);
}

}  // namespace nmt
