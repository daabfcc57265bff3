#include "base/byte_count.h"

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <string_view>
#include <utility>

#include "base/error.h"

namespace nmt {

int64_t parse_bytes(const std::string& where, const std::string& text) {
  constexpr std::array<std::pair<std::string_view, double>, 10> kUnits = {{{"B", 1},
                                                                           {"kB", 1e3},
                                                                           {"KB", 1e3},
                                                                           {"MB", 1e6},
                                                                           {"GB", 1e9},
                                                                           {"TB", 1e12},
                                                                           {"KiB", 0x1p10},
                                                                           {"MiB", 0x1p20},
                                                                           {"GiB", 0x1p30},
                                                                           {"TiB", 0x1p40}}};
  double number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  std::string_view unit(end, static_cast<size_t>(text.data() + text.size() - end));
  while (unit.starts_with(' ')) unit.remove_prefix(1);
  for (const auto& [name, bytes] : kUnits)
    if (error == std::errc() && unit == name && number * bytes >= 1 && number * bytes < 0x1p62)
      return static_cast<int64_t>(number * bytes);
  throw Error(
      fmt::format("{} '{}': give a number and a unit (B, kB, MB, GB, TB, KiB, MiB, GiB, TiB), such as 80GB or 512MiB",
                  where, text));
}

}  // namespace nmt
