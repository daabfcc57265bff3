#pragma once

#include <string>
#include <vector>

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
