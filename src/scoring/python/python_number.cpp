#include "scoring/python/python_number.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <charconv>
#include <cmath>
#include <limits>

#include "base/error.h"
#include "base/files/strict_json.h"

namespace nmt::scoring {

std::string fixed(double value, int width) {
  if (width < 0) throw Error(fmt::format("-w {}: the number of digits after the point cannot be negative", width));
  if (std::isnan(value)) return "nan";
  // fmt 9 loses digits beyond about 770 of them.
  std::string text(std::numeric_limits<double>::max_exponent10 + 3 + static_cast<size_t>(width), '\0');
  text.resize(std::to_chars(text.data(), text.data() + text.size(), value, std::chars_format::fixed, width).ptr -
              text.data());
  return text;
}

std::string repr(double value) {
  const std::string text = fmt::format("{}", value);
  return text.find_first_not_of("-0123456789") == std::string::npos ? text + ".0" : text;
}

std::string json_string(std::string_view text, const JsonLayout& layout) {
  return nlohmann::json(text).dump(-1, ' ', layout.only_ascii, nlohmann::json::error_handler_t::replace);
}

std::string json_object(const JsonMembers& members, const JsonLayout& layout, int level) {
  const std::string end = "\n" + std::string(layout.indent * level, ' ');
  const std::string begin = end + std::string(layout.indent, ' ');
  std::vector<std::string> lines;
  for (const auto& [key, value] : members) lines.push_back(begin + json_string(key, layout) + ": " + value);
  return fmt::format("{{{}{}}}", fmt::join(lines, ","), end);
}

}  // namespace nmt::scoring
