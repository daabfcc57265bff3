#include "report/records/run_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <utility>
#include <vector>

namespace nmt {
namespace {

struct Figure {
  const char* title;
  int digits;
  std::optional<double> (*value)(const ValidationReport&);
};

constexpr std::array kFigures = {
    Figure{"update", 0, [](const ValidationReport& r) -> std::optional<double> { return r.update; }},
    Figure{"loss", 4, [](const ValidationReport& r) -> std::optional<double> { return r.loss; }},
    Figure{"perplexity", 3, [](const ValidationReport& r) -> std::optional<double> { return r.perplexity; }},
    Figure{"accuracy %", 2, [](const ValidationReport& r) -> std::optional<double> { return 100 * r.accuracy; }},
    Figure{"BLEU", 2, [](const ValidationReport& r) { return r.has_bleu ? std::optional(r.bleu) : std::nullopt; }},
    Figure{"chrF", 2, [](const ValidationReport& r) { return r.has_chrf ? std::optional(r.chrf) : std::nullopt; }}};

using Values = std::vector<std::optional<double>>;

/// Mean and deviation; neither where a value is missing.
std::pair<std::optional<double>, std::optional<double>> mean_and_deviation(const Values& values) {
  double sum = 0, squares = 0;
  for (const auto& value : values) {
    if (!value) return {};
    sum += *value;
  }
  const auto count = static_cast<double>(values.size());
  for (const auto& value : values) squares += (*value - sum / count) * (*value - sum / count);
  return {sum / count, std::sqrt(squares / (count - 1))};
}

}  // namespace

std::string run_table(std::span<const RunRecords> runs) {
  std::vector<std::string> names;
  for (const auto& run : runs) names.push_back(run.name);
  if (runs.size() > 1) names.insert(names.end(), {"mean", "deviation"});
  size_t width = 3;
  for (const auto& name : names) width = std::max(width, name.size());
  std::vector<std::string> lines = {fmt::format("{:<{}}", "run", width)};
  for (const auto& name : names) lines.push_back(fmt::format("{:<{}}", name, width));
  for (const auto& column : kFigures) {
    Values values;
    for (const auto& run : runs) {
      const auto best = std::find_if(run.validations.rbegin(), run.validations.rend(),
                                     [](const ValidationReport& report) { return report.is_best; });
      values.push_back(best == run.validations.rend() ? std::nullopt : column.value(*best));
    }
    if (runs.size() > 1) {
      const auto [mean, deviation] = mean_and_deviation(values);
      values.insert(values.end(), {mean, deviation});
    }
    if (std::ranges::none_of(values, [](const auto& value) { return value.has_value(); })) continue;
    lines.front() += fmt::format("  {:>10}", column.title);
    for (size_t i = 0; i < values.size(); ++i) {
      const std::string figure = values[i] ? fmt::format("{:.{}f}", *values[i], column.digits) : "-";
      lines[i + 1] += fmt::format("  {:>10}", figure);
    }
  }
  std::string text;
  for (const auto& line : lines) text += line + "\n";
  return text;
}

}  // namespace nmt
