#include "base/edit_distance.h"

#include <algorithm>
#include <numeric>
#include <utility>
#include <vector>

namespace nmt {

size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<size_t> before_last, last(b.size() + 1), current(b.size() + 1);
  std::iota(last.begin(), last.end(), size_t{0});
  for (size_t i = 1; i <= a.size(); ++i) {
    current[0] = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      const size_t replaced = last[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      current[j] = std::min({replaced, last[j] + 1, current[j - 1] + 1});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
        current[j] = std::min(current[j], before_last[j - 2] + 1);
      }
    }
    before_last = std::move(last);
    last = std::move(current);
    current.assign(b.size() + 1, 0);
  }
  return last[b.size()];
}

size_t tolerated_distance(std::string_view name) { return std::clamp<size_t>(name.size() / 3, 1, 3); }

std::optional<std::string> nearest_name(std::string_view name, std::span<const std::string> names) {
  constexpr size_t kLongest = 64, kBeginning = 3;  // a distance costs the product of both lengths
  if (name.size() > kLongest) return std::nullopt;
  std::optional<std::string> nearest;
  size_t best = tolerated_distance(name) + 1;
  for (const auto& other : names) {
    const size_t distance = edit_distance(name, other);
    if (distance >= best) continue;
    best = distance;
    nearest = other;
  }
  if (nearest || name.size() < kBeginning) return nearest;
  const auto longer = std::ranges::find_if(names, [&](const auto& other) { return other.starts_with(name); });
  return longer == names.end() ? std::nullopt : std::optional(*longer);
}

}  // namespace nmt
