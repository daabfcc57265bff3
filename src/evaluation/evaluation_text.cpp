#include "evaluation/evaluation_text.h"

#include <fmt/format.h>

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

}  // namespace

std::string evaluation_text(const std::vector<TestSetResults>& results, int width) {
  std::string text;
  for (const auto& result : results) {
    if (!result.test_set.name.empty()) text += result.test_set.name + ":\n";
    text += text_of(result, width);
  }
  return text;
}

}  // namespace nmt
