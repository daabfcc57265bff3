#include "evaluation/evaluation_text.h"

#include <fmt/format.h>

#include <algorithm>

#include "scoring/command/results_table.h"

namespace nmt {
namespace {

std::string text_of(const TestSetResults& results, int width) {
  std::string text;
  if (results.comparison) {
    text = format_results(*results.comparison, {.width = width});
    for (const auto& system : results.systems)
      if (system.loss) text += fmt::format("{}: {}\n", system.output.name, system.loss->format(width));
    return text;
  }
  const auto& only = results.systems.front();
  for (const auto& score : only.scores) text += score.format({.width = width}) + "\n";
  if (only.loss) text += only.loss->format(width) + "\n";
  return text;
}

/// One system: a row a test set, and below the table the signatures of its scores.
std::string table_of(const std::vector<TestSetResults>& results, int width) {
  const auto number = [](double value, int digits) { return fmt::format("{:.{}f}", value, digits); };
  const auto& first = results.front().systems.front();
  std::vector<std::vector<std::string>> rows = {{"test set", "sentences"}};
  for (const auto& score : first.scores) {
    rows[0].push_back(score.name);
    if (score.confidence) rows[0].push_back("95 %");
  }
  if (first.loss) rows[0].insert(rows[0].end(), {"loss", "perplexity"});
  for (const auto& [test_set, systems, comparison] : results) {
    auto& row = rows.emplace_back(std::vector{test_set.name, std::to_string(test_set.sources.size())});
    for (const auto& score : systems.front().scores) {
      row.push_back(number(score.score, width));
      if (const auto& found = score.confidence)
        row.push_back(fmt::format("{} +/- {}", number(found->mean, width), number(found->half_width, width)));
    }
    if (const auto& loss = systems.front().loss)
      row.insert(row.end(), {number(loss->loss, std::max(width, 4)), number(loss->perplexity(), std::max(width, 4))});
  }
  std::vector<size_t> widths(rows[0].size());
  for (const auto& row : rows)
    for (size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], row[i].size());
  std::string text;
  for (const auto& row : rows) {
    text += fmt::format("{:<{}}", row[0], widths[0]);
    for (size_t i = 1; i < row.size(); ++i) text += fmt::format("  {:>{}}", row[i], widths[i]);
    text += '\n';
  }
  for (const auto& score : first.scores)
    if (score.signature) text += fmt::format("{}|{}\n", score.name, score.signature->text());
  return text;
}

}  // namespace

std::string evaluation_text(const std::vector<TestSetResults>& results, int width) {
  if (results.size() > 1 && !results.front().comparison) return table_of(results, width);
  std::string text;
  for (const auto& result : results) {
    if (!result.test_set.name.empty()) text += result.test_set.name + ":\n";
    text += text_of(result, width);
  }
  return text;
}

}  // namespace nmt
