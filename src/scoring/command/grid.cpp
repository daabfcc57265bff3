#include "scoring/command/grid.h"

#include <algorithm>
#include <cmath>
#include <string_view>

#include "base/code_points.h"
#include "base/unicode.h"
#include "scoring/python/python_number.h"

namespace nmt::scoring {
namespace {

constexpr int kTitlePadding = 2;  // a column is at least so much wider than its title

enum class Alignment { kRight, kCenter };

bool is_digit(char c) { return c >= '0' && c <= '9'; }

/// The bytes of the ANSI control sequence at text[i]; 0 if there is none.
size_t control_sequence_length(std::string_view text, size_t i) {
  if (text.substr(i, 2) != "\x1b[") return 0;
  size_t end = i + 2;
  const auto in = [&](char first, char last) { return end < text.size() && text[end] >= first && text[end] <= last; };
  while (in(0x30, 0x3F)) ++end;
  while (in(0x20, 0x2F)) ++end;
  return in(0x40, 0x7E) ? end + 1 - i : 0;
}

std::string without_control_sequences(std::string_view text) {
  std::string plain;
  for (size_t i = 0; i < text.size();) {
    const size_t length = control_sequence_length(text, i);
    if (length == 0) plain += text[i];
    i += std::max<size_t>(1, length);
  }
  return plain;
}

int visible_width(std::string_view text) {
  int width = 0;
  for (size_t i = 0; i < text.size();) {
    if (const size_t length = control_sequence_length(text, i)) {
      i += length;
    } else {
      next_code_point(text, i);
      ++width;
    }
  }
  return width;
}

std::vector<std::string> lines_of(const std::string& cell) {
  std::vector<std::string> lines;
  size_t start = 0;
  for (size_t end; (end = cell.find('\n', start)) != std::string::npos; start = end + 1) {
    lines.push_back(cell.substr(start, end - start));
  }
  lines.push_back(cell.substr(start));
  return lines;
}

std::string padded(const std::string& line, int width, Alignment alignment) {
  const int missing = std::max(0, width - visible_width(line));
  const int left = alignment == Alignment::kRight ? missing : missing / 2;
  return std::string(left, ' ') + line + std::string(missing - left, ' ');
}

/// "1,234.5", ".5": digits in threes after the first comma.
bool has_thousands_separators(std::string_view text) {
  size_t i = 0;
  const auto digits = [&](size_t max) {
    const size_t start = i;
    while (i < text.size() && i - start < max && is_digit(text[i])) ++i;
    return i - start;
  };
  if (!text.empty() && (text[0] == '+' || text[0] == '-')) ++i;
  const bool whole = digits(3) > 0;
  if (!whole && i > 0) return false;
  while (whole && i < text.size() && text[i] == ',') {
    ++i;
    if (digits(3) != 3) return false;
  }
  if (i < text.size() && text[i] == '.') {
    ++i;
    if (digits(text.size()) == 0 && !whole) return false;
  }
  return i == text.size();
}

/// An integer of any size as Python's int() reads it.
bool is_integer(std::string_view text) {
  text = strip(text);
  if (text.starts_with('+') || text.starts_with('-')) text.remove_prefix(1);
  for (size_t i = 0; i < text.size(); ++i) {
    const bool between = i > 0 && i + 1 < text.size() && text[i - 1] != '_';
    if (!is_digit(text[i]) && !(text[i] == '_' && between)) return false;
  }
  return !text.empty();
}

bool is_real(const std::string& text) {
  const auto value = parse_float(text);
  if (!value) return has_thousands_separators(text);
  if (std::isfinite(*value)) return true;
  std::string lower;
  for (const char c : text) lower += static_cast<char>(c >= 'A' && c <= 'Z' ? c + 32 : c);
  return lower == "inf" || lower == "-inf" || lower == "nan";
}

/// From the most special to the most general.
enum class CellType { kEmpty, kBool, kInteger, kReal, kText };

CellType type_of(const std::string& cell) {
  const std::string text = without_control_sequences(cell);
  if (text.empty()) return CellType::kEmpty;
  if (text == "True" || text == "False") return CellType::kBool;
  if (is_integer(text) || (has_thousands_separators(text) && text.find('.') == std::string::npos)) {
    return CellType::kInteger;
  }
  return is_real(text) ? CellType::kReal : CellType::kText;
}

/// Prints a cell of a column of real numbers anew.
std::string as_real(const std::string& cell, int width) {
  std::string text = without_control_sequences(cell);
  if (text.empty()) return "";
  const bool plain = text == cell;
  std::string digits = text;
  if (plain) digits.erase(std::remove(digits.begin(), digits.end(), ','), digits.end());
  const auto value = parse_float(digits);
  if (!value) return cell;
  if (plain) return fixed(*value, width);
  std::string painted = cell;
  return painted.replace(painted.find(text), text.size(), fixed(*value, width));
}

/// A column ready to be drawn: for each cell its lines, all of one width.
struct DrawnColumn {
  int width = 0;
  Alignment alignment = Alignment::kCenter;
  std::string title;
  std::vector<std::vector<std::string>> cells;
};

DrawnColumn draw(const std::string& title, const std::vector<std::string>& cells, Alignment alignment, int digits) {
  CellType type = CellType::kBool;
  for (const std::string& cell : cells) type = std::max(type, type_of(cell));
  DrawnColumn column{.width = visible_width(title) + kTitlePadding, .alignment = alignment, .title = {}, .cells = {}};
  for (const std::string& cell : cells) {
    const std::string text = type == CellType::kReal ? as_real(cell, digits) : cell;
    column.cells.push_back(lines_of(std::string(strip(text))));
    for (const std::string& line : column.cells.back()) column.width = std::max(column.width, visible_width(line));
  }
  for (auto& lines : column.cells) {
    for (std::string& line : lines) line = padded(line, column.width, alignment);
  }
  column.title = padded(title, column.width, alignment);
  return column;
}

std::string fancy_line(const std::vector<DrawnColumn>& columns, const std::string& begin, const std::string& fill,
                       const std::string& separator, const std::string& end) {
  std::string line = begin;
  for (size_t c = 0; c < columns.size(); ++c) {
    if (c > 0) line += separator;
    for (int i = 0; i < columns[c].width + 2; ++i) line += fill;
  }
  return line + end + "\n";
}

std::string fancy_row(const std::vector<DrawnColumn>& columns, size_t row) {
  size_t height = 0;
  for (const auto& column : columns) height = std::max(height, column.cells[row].size());
  std::string text;
  for (size_t i = 0; i < height; ++i) {
    text += "│";
    for (const auto& column : columns) {
      const auto& lines = column.cells[row];
      text += " " + (i < lines.size() ? lines[i] : std::string(column.width, ' ')) + " │";
    }
    text += "\n";
  }
  return text;
}

std::string format_fancy(const std::vector<DrawnColumn>& columns, size_t rows) {
  std::string text = fancy_line(columns, "╒", "═", "╤", "╕") + "│";
  for (const auto& column : columns) text += " " + column.title + " │";
  text += "\n" + fancy_line(columns, "╞", "═", "╪", "╡");
  for (size_t row = 0; row < rows; ++row) {
    if (row > 0) text += fancy_line(columns, "├", "─", "┼", "┤");
    text += fancy_row(columns, row);
  }
  text += fancy_line(columns, "╘", "═", "╧", "╛");
  text.pop_back();
  return text;
}

std::string escape_latex(const std::string& text) {
  std::string out;
  for (const char c : text) {
    switch (c) {
      case '&':
      case '%':
      case '$':
      case '#':
      case '_':
      case '{':
      case '}':
        out += std::string("\\") + c;
        break;
      case '^':
        out += "\\^{}";
        break;
      case '~':
        out += "\\textasciitilde{}";
        break;
      case '\\':
        out += "\\textbackslash{}";
        break;
      case '<':
        out += "\\ensuremath{<}";
        break;
      case '>':
        out += "\\ensuremath{>}";
        break;
      default:
        out += c;
    }
  }
  return out;
}

std::string format_latex(const std::vector<DrawnColumn>& columns, size_t rows) {
  std::string text = "\\begin{tabular}{", titles;
  for (size_t c = 0; c < columns.size(); ++c) {
    text += columns[c].alignment == Alignment::kRight ? 'r' : 'c';
    titles += (c > 0 ? "&" : "") + (" " + escape_latex(columns[c].title) + " ");
  }
  text += "}\n\\toprule\n" + titles + "\\\\\n\\midrule\n";
  for (size_t row = 0; row < rows; ++row) {
    for (size_t c = 0; c < columns.size(); ++c) {
      std::string cell;
      for (const std::string& line : columns[c].cells[row]) cell += (cell.empty() ? "" : "\n") + line;
      text += (c > 0 ? "&" : "") + (" " + escape_latex(cell) + " ");
    }
    text += "\\\\\n";
  }
  return text + "\\bottomrule\n\\end{tabular}";
}

}  // namespace

std::string format_grid(const Grid& grid, GridStyle style, int width) {
  std::vector<DrawnColumn> columns;
  for (size_t c = 0; c < grid.columns.size(); ++c) {
    columns.push_back(draw(grid.titles[c], grid.columns[c], c == 0 ? Alignment::kRight : Alignment::kCenter, width));
  }
  const size_t rows = grid.columns.empty() ? 0 : grid.columns.front().size();
  return style == GridStyle::kFancy ? format_fancy(columns, rows) : format_latex(columns, rows);
}

}  // namespace nmt::scoring
