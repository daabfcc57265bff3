#include "manual/roff.h"

#include <algorithm>

namespace nmt {

std::string roff_text(std::string_view text) {
  std::string result;
  for (const char c : text) {
    switch (c) {
      case '\\':
        result += "\\e";
        break;
      case '-':
        result += "\\-";
        break;
      case '\'':
        result += "\\(aq";
        break;
      case '`':
        result += "\\(ga";
        break;
      case '^':
        result += "\\(ha";
        break;
      case '~':
        result += "\\(ti";
        break;
      default:
        result += c;
    }
  }
  return result;
}

std::string roff_lines(std::string_view text) {
  constexpr size_t kWidth = 78;
  std::string result;
  size_t column = 0;
  while (!text.empty()) {
    const size_t space = std::min(text.find_first_of(" \n"), text.size());
    if (space > 0) {
      std::string word = roff_text(text.substr(0, space));
      if (column > 0 && column + 1 + word.size() <= kWidth) {
        result += ' ';
        ++column;
      } else {
        if (column > 0) result += '\n';
        column = 0;
        if (word.front() == '.') word.insert(0, "\\&");
      }
      result += word;
      column += word.size();
    }
    text.remove_prefix(std::min(space + 1, text.size()));
  }
  return result.empty() ? result : result + '\n';
}

std::string roff_bold(std::string_view text) { return "\\fB" + roff_text(text) + "\\fR"; }

std::string roff_italic(std::string_view text) { return "\\fI" + roff_text(text) + "\\fR"; }

}  // namespace nmt
