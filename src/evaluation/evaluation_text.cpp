#include "evaluation/evaluation_text.h"

#include "scoring/command/results_table.h"

namespace nmt {
namespace {

std::string text_of(const TestSetResults& results, int width) {
  if (results.comparison) return format_results(*results.comparison, {.width = width});
  std::string text;
  for (const auto& score : results.systems.front().scores) text += score.format({.width = width}) + "\n";
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
