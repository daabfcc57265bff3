#include "base/control_groups.h"

#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <fstream>
#include <iterator>
#include <sstream>

namespace nmt {

std::optional<int64_t> limit_of_control_groups(const std::string& file, const ReadLimit& read) {
  std::ifstream groups("/proc/self/cgroup");
  return limit_of_control_groups(std::string{std::istreambuf_iterator<char>(groups), {}}, "/sys/fs/cgroup", file, read);
}

// In a container the names of groups may be those of the host: the ones that are not seen are passed over, and the
// folder of all is the container's own.
std::optional<int64_t> limit_of_control_groups(std::string_view groups, const std::filesystem::path& mounted,
                                               const std::string& file, const ReadLimit& read) {
  std::filesystem::path group;
  std::istringstream lines{std::string(groups)};
  for (std::string line; std::getline(lines, line);)
    if (line.starts_with("0::/")) group = line.substr(4);
  std::optional<int64_t> least;
  const auto look_at = [&](const std::filesystem::path& folder) {
    std::ifstream text(folder / file);
    std::string line;
    if (!std::getline(text, line)) return;
    if (const auto limit = read(line)) least = std::min(*limit, least.value_or(*limit));
  };
  auto folder = mounted;
  look_at(folder);
  for (const auto& part : group) look_at(folder /= part);
  return least;
}

int64_t memory_of_host() {
  const int64_t all = static_cast<int64_t>(::sysconf(_SC_PHYS_PAGES)) * static_cast<int64_t>(::sysconf(_SC_PAGESIZE));
  const auto limit = limit_of_control_groups("memory.max", [](std::string_view line) -> std::optional<int64_t> {
    int64_t bytes = 0;
    std::from_chars(line.data(), line.data() + line.size(), bytes);
    return bytes > 0 ? std::optional(bytes) : std::nullopt;
  });
  return std::min(all, limit.value_or(all));
}

}  // namespace nmt
