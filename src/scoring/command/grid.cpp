#include "scoring/command/grid.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <string_view>

#include "base/unicode.h"

namespace nmt::scoring {
namespace {

constexpr int kTitlePadding = 2;  // a column is at least so much wider than its title

/// Code points but for those of colours ("\x1b[31m").
int visible_width(std::string_view text) {
  int width = 0;
  bool in_color = false;
  for (const char c : text) {
    if (c == '\x1b' || in_color) {
      in_color = c != 'm';
    } else {
      width += !is_continuation_byte(c);
    }
  }
  return width;
}

std::vector<std::string> lines_of(const std::string& cell) {
  std::vector<std::string> lines = {""};
  for (const char c : cell) {
    if (c == '\n') {
      lines.emplace_back();
    } else {
      lines.back() += c;
    }
  }
  return lines;
}

/// A column ready to be drawn: the title, then for each cell its lines, all of one width.
struct DrawnColumn {
  int width = 0;
  std::vector<std::vector<std::string>> cells;
};

DrawnColumn draw(const std::string& title, const std::vector<std::string>& cells, bool flush_right) {
  DrawnColumn column{.width = visible_width(title) + kTitlePadding, .cells = {{title}}};
  for (const std::string& cell : cells) column.cells.push_back(lines_of(cell));
  for (const auto& lines : column.cells) {
    for (const auto& line : lines) column.width = std::max(column.width, visible_width(line));
  }
  for (auto& lines : column.cells) {
    for (auto& line : lines) {
      const int missing = column.width - visible_width(line), left = flush_right ? missing : missing / 2;
      line = std::string(left, ' ') + line + std::string(missing - left, ' ');
    }
  }
  return column;
}

std::string fancy_rule(const std::vector<DrawnColumn>& columns, const char* begin, const char* fill,
                       const char* separator, const char* end) {
  std::vector<std::string> parts;
  for (const auto& column : columns) {
    auto& part = parts.emplace_back();
    for (int i = 0; i < column.width + 2; ++i) part += fill;
  }
  return fmt::format("{}{}{}", begin, fmt::join(parts, separator), end);
}

std::string fancy_row(const std::vector<DrawnColumn>& columns, size_t row) {
  size_t height = 0;
  for (const auto& column : columns) height = std::max(height, column.cells[row].size());
  std::string text;
  for (size_t i = 0; i < height; ++i) {
    text += "\n│";
    for (const auto& column : columns) {
      const auto& lines = column.cells[row];
      text += " " + (i < lines.size() ? lines[i] : std::string(column.width, ' ')) + " │";
    }
  }
  return text + "\n";
}

std::string format_fancy(const std::vector<DrawnColumn>& columns, size_t rows) {
  std::string text = fancy_rule(columns, "╒", "═", "╤", "╕") + fancy_row(columns, 0);
  for (size_t row = 1; row < rows; ++row) {
    text += row == 1 ? fancy_rule(columns, "╞", "═", "╪", "╡") : fancy_rule(columns, "├", "─", "┼", "┤");
    text += fancy_row(columns, row);
  }
  return text + fancy_rule(columns, "╘", "═", "╧", "╛");
}

std::string escape_latex(const std::string& text) {
  std::string out;
  for (const char c : text) {
    if (std::string_view("&%$#_{}").find(c) != std::string_view::npos) {
      out += std::string("\\") + c;
    } else if (c == '<' || c == '>') {
      out += std::string("\\ensuremath{") + c + "}";
    } else {
      out += c == '^' ? "\\^{}" : c == '~' ? "\\textasciitilde{}" : c == '\\' ? "\\textbackslash{}" : std::string(1, c);
    }
  }
  return out;
}

std::string format_latex(const std::vector<DrawnColumn>& columns, size_t rows) {
  std::string text = "\\begin{tabular}{r" + std::string(columns.size() - 1, 'c') + "}\n\\toprule\n";
  for (size_t row = 0; row < rows; ++row) {
    std::vector<std::string> cells;
    for (const auto& column : columns)
      cells.push_back(" " + escape_latex(fmt::format("{}", fmt::join(column.cells[row], "\n"))) + " ");
    text += fmt::format("{}\\\\\n{}", fmt::join(cells, "&"), row == 0 ? "\\midrule\n" : "");
  }
  return text + "\\bottomrule\n\\end{tabular}";
}

}  // namespace

std::string format_grid(const Grid& grid, GridStyle style) {
  std::vector<DrawnColumn> columns;
  for (size_t c = 0; c < grid.columns.size(); ++c) columns.push_back(draw(grid.titles[c], grid.columns[c], c == 0));
  const size_t rows = columns.front().cells.size();
  return style == GridStyle::kFancy ? format_fancy(columns, rows) : format_latex(columns, rows);
}

}  // namespace nmt::scoring
