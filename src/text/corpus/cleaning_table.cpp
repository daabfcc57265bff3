#include "text/corpus/cleaning_table.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/process/progress.h"
#include "base/unicode.h"

namespace nmt {
namespace {

using Row = std::vector<std::string>;

/// A count of pairs that were found but not dropped.
std::string only_counted(int64_t count) { return count == 0 ? "0" : "(" + with_commas(count) + ")"; }

Row header() {
  return {"corpus",          "pairs read",   "kept",      "empty",       "source too long",
          "target too long", "length ratio", "duplicate", "in test set", "lines repaired"};
}

Row cells(const CleaningRow& row, const CleaningOptions& options) {
  const CleaningCounts& counts = row.counts;
  Row cells{row.name, with_commas(counts.read)};
  if (!row.is_training) {
    cells.push_back(with_commas(counts.read));
    cells.insert(cells.end(), 6, "-");
  } else {
    const auto dropped = [&](Verdict verdict) { return with_commas(counts.of(verdict)); };
    cells.push_back(with_commas(counts.kept()));
    cells.push_back(options.drop_empty ? dropped(Verdict::kEmpty) : "off");
    cells.push_back(dropped(Verdict::kSourceTooLong));
    cells.push_back(dropped(Verdict::kTargetTooLong));
    cells.push_back(options.max_length_ratio > 0 ? dropped(Verdict::kLengthRatio) : "off");
    cells.push_back(options.drop_duplicates ? dropped(Verdict::kDuplicate) : only_counted(counts.duplicates));
    cells.push_back(options.drop_test_overlap ? dropped(Verdict::kTestOverlap) : only_counted(counts.test_overlap));
  }
  cells.push_back(with_commas(counts.repaired_lines));
  return cells;
}

size_t columns_of(const std::string& text) { return to_code_points(text).size(); }

std::string format_rows(const std::vector<Row>& rows) {
  std::vector<size_t> widths(rows.front().size());
  for (const auto& row : rows) {
    for (size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], columns_of(row[i]));
  }
  std::string table;
  for (const auto& row : rows) {
    std::string line = row[0] + std::string(widths[0] - columns_of(row[0]), ' ');
    for (size_t i = 1; i < row.size(); ++i) {
      line += std::string(2 + widths[i] - columns_of(row[i]), ' ') + row[i];
    }
    table += line + "\n";
  }
  return table;
}

}  // namespace

std::string cleaning_table(const std::vector<CleaningRow>& rows, const CleaningOptions& options) {
  std::vector<Row> lines{header()};
  CleaningRow sum{.name = "training text together"};
  int64_t training_rows = 0, counted = 0;
  for (const auto& row : rows) {
    lines.push_back(cells(row, options));
    if (!row.is_training) continue;
    ++training_rows;
    sum.counts += row.counts;
  }
  if (training_rows > 1) lines.insert(lines.begin() + 1 + training_rows, cells(sum, options));
  if (!options.drop_duplicates) counted += sum.counts.duplicates;
  if (!options.drop_test_overlap) counted += sum.counts.test_overlap;
  std::string table = format_rows(lines);
  if (counted > 0) {
    table += "(n): found and kept; data.drop_duplicates and data.drop_test_overlap drop them\n";
  }
  return table;
}

}  // namespace nmt
