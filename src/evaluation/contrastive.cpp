#include "evaluation/contrastive.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"
#include "base/files/line_reader.h"
#include "base/unicode.h"
#include "text/pairs/pair_reader.h"

namespace nmt {

std::vector<ContrastiveItem> read_contrastive(const std::filesystem::path& file, bool with_categories) {
  std::vector<ContrastiveItem> items;
  LineReader reader(file);
  while (const auto line = reader.next()) {
    const auto fail = [&](const std::string& why) {
      throw Error(fmt::format("--contrastive {}:{}: {}", file.string(), reader.line_number(), why));
    };
    if (const auto at = find_invalid_utf8(*line)) fail(fmt::format("not UTF-8 at byte {}; convert the file", *at + 1));
    std::vector<std::string> columns;
    for (size_t begin = 0; begin <= line->size(); begin += columns.back().size() + 1) {
      const auto column = line->substr(begin, line->find('\t', begin) - begin);
      columns.emplace_back(column);
    }
    for (auto& column : columns)
      if (strip(column).empty()) fail("has an empty column");
    const size_t first = with_categories ? 1 : 0;
    if (columns.size() < first + 3)
      fail(fmt::format("{} columns; write {}source, right and wrong translation, separated by tabs", columns.size(),
                       with_categories ? "category, " : ""));
    auto& item = items.emplace_back();
    if (with_categories) item.category = columns.front();
    item.source = columns[first];
    item.right = columns[first + 1];
    for (size_t i = first + 2; i < columns.size(); ++i) item.wrong.emplace_back(strip_end(columns[i]));
  }
  if (items.empty()) throw Error(fmt::format("--contrastive {}: holds no lines", file.string()));
  return items;
}

std::string ContrastiveCount::format(int width) const {
  return fmt::format("{:.{}f} ({} of {})", 100.0 * static_cast<double>(right) / static_cast<double>(items), width,
                     right, items);
}

std::string ContrastiveAccuracy::format(int width) const {
  std::string text = fmt::format("contrastive accuracy = {}\n", all.format(width));
  for (const auto& [category, count] : categories) text += fmt::format("  {} = {}\n", category, count.format(width));
  return text;
}

ContrastiveAccuracy contrastive_accuracy(std::span<const ContrastiveItem> items, const Translator& translator,
                                         const TranslationCalls& calls) {
  std::vector<TextPair> pairs;
  for (const auto& item : items) {
    pairs.push_back({item.source, item.right});
    for (const auto& wrong : item.wrong) pairs.push_back({item.source, wrong});
  }
  const auto scored = translator.score(pairs, calls);
  ContrastiveAccuracy accuracy;
  auto right = scored.begin();
  for (const auto& item : items) {
    const auto end = right + 1 + std::ssize(item.wrong);
    const bool is_right = std::all_of(right + 1, end, [&](const Alternative& w) { return w.score < right->score; });
    const auto add = [&](ContrastiveCount& count) { count.right += is_right, ++count.items; };
    add(accuracy.all);
    if (!item.category.empty()) add(accuracy.categories[item.category]);
    right = end;
  }
  return accuracy;
}

}  // namespace nmt
