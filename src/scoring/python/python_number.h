#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace nmt::scoring {

/// f"{value:.{width}f}" of Python. Throws nmt::Error for a negative width.
std::string fixed(double value, int width);

/// repr(value) of Python: the shortest digits that read back as the same number; "100.0", "1e-05", "nan".
std::string repr(double value);

/// The layout of Python's json.dumps: spaces a level, and whether \uXXXX stands for all beyond ASCII.
struct JsonLayout {
  int indent = 1;
  bool only_ascii = false;
};

/// json.dumps(text), in quotes. text: UTF-8, or U+FFFD for what is not.
std::string json_string(std::string_view text, const JsonLayout& layout);

/// json.dumps of an object within `level` others. members: keys, and values that are JSON already.
using JsonMembers = std::vector<std::pair<std::string, std::string>>;
std::string json_object(const JsonMembers& members, const JsonLayout& layout, int level = 0);

}  // namespace nmt::scoring
