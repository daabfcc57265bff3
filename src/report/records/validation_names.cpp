#include "report/records/validation_names.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <string_view>

namespace nmt {
namespace {

constexpr size_t kDigits = 8;  // of the update in the names of files, as in those of checkpoints
constexpr std::string_view kDigit = "0123456789";

/// The number of the digits at the start of the text; nullopt where there are none, or too many.
std::optional<int64_t> leading_number(std::string_view text) {
  int64_t number = 0;
  if (std::from_chars(text.data(), text.data() + text.size(), number).ec != std::errc()) return std::nullopt;
  return number;
}

}  // namespace

// Two means at one update are of the last checkpoints and of the best. The last ones are all from the first of them on:
// other checkpoints that begin there are fewer. So the first and the count tell them apart, however many there are.
std::string averaged_updates(const std::string& weights) {
  int64_t count = 0, first = 0, last = 0;
  for (size_t at = 0; (at = weights.find_first_of(kDigit, at)) != std::string::npos;
       at = std::min(weights.find_first_not_of(kDigit, at), weights.size())) {
    const auto update = leading_number(std::string_view(weights).substr(at));
    if (!update) continue;  // no text of nmt-train
    if (++count == 1) first = *update;
    last = *update;
  }
  return count == 0 ? "" : fmt::format("of-{}-from-{}-to-{}", count, first, last);
}

std::string validation_stem(const ValidationReport& report) {
  auto stem = fmt::format("{:0{}}", report.update, kDigits);
  if (report.weights.empty()) return stem;
  const auto updates = averaged_updates(report.weights);
  return stem + (updates.empty() ? "-average" : "-average-" + updates);
}

std::optional<int64_t> update_of_file(const std::filesystem::path& path) {
  const std::string name = path.filename().string();
  if (std::min(name.find_first_not_of(kDigit), name.size()) < kDigits) return std::nullopt;
  return leading_number(name);
}

}  // namespace nmt
