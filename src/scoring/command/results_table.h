#pragma once

#include <string>
#include <vector>

#include "base/choice.h"
#include "scoring/corpus/paired_test.h"

namespace nmt::scoring {

enum class TableStyle { kJson, kText, kLatex };

struct TableFormat {
  TableStyle style = TableStyle::kText;
  int width = 1;  ///< digits after the point
  bool short_signatures = false;
  bool colors = false;  ///< ANSI colours, for a terminal
};

/// What sacreBLEU prints for several systems: the table, for paired tests with the explanation, and the signatures.
/// Ends with a line end. In a test the name of the first system should be "Baseline: NAME".
std::string format_results(const PairedTable& table, const TableFormat& format = {});

/// What sacreBLEU prints for one system: the texts or JSON objects of its scores (Score::format and format_json),
/// several with their "=" below each other or as a JSON list. Ends with a line end.
std::string format_single_results(const std::vector<std::string>& scores, const TableFormat& format);

}  // namespace nmt::scoring

namespace nmt {
template <>
inline constexpr auto kNames<scoring::TableStyle> = names("json", "text", "latex");
}  // namespace nmt

namespace nmt::scoring {

/// A table of text: columns[c][row] under titles[c]. Cells may hold several lines and ANSI colours, which take no
/// space.
struct Grid {
  std::vector<std::string> titles;
  std::vector<std::vector<std::string>> columns;
};

enum class GridStyle { kFancy, kLatex };

/// Draws a grid as the Python library tabulate does, the first column flush right, the others centered. No line end at
/// the end.
std::string format_grid(const Grid& grid, GridStyle style);

}  // namespace nmt::scoring
