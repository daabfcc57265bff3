#include "training/memory/host_memory.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <limits>
#include <string>

namespace fs = std::filesystem;

namespace nmt {
namespace {

constexpr int64_t kNoLimit = std::numeric_limits<int64_t>::max();

// The number in a file; none where it says "max" or can't be read.
int64_t limit_in(const fs::path& file) {
  std::ifstream text(file);
  int64_t limit = 0;
  return text >> limit && limit > 0 ? limit : kNoLimit;
}

// In a container the names of groups may be those of the host: the ones that are not seen are passed over, and the
// folder of all is the container's own.
int64_t least_limit(const fs::path& mounted, const fs::path& group, const char* name) {
  int64_t least = limit_in(mounted / name);
  fs::path folder = mounted;
  for (const auto& part : group.relative_path()) least = std::min(least, limit_in((folder /= part) / name));
  return least;
}

}  // namespace

int64_t memory_limit(std::string_view groups, const fs::path& mounted) {
  int64_t least = kNoLimit;
  while (!groups.empty()) {
    const auto line = groups.substr(0, groups.find('\n'));
    groups.remove_prefix(std::min(groups.size(), line.size() + 1));
    // NUMBER:CONTROLLERS:GROUP; version 2 has no controllers there.
    const size_t first = line.find(':'), second = line.find(':', first + 1);
    if (first == line.npos || second == line.npos) continue;
    const auto controllers = fmt::format(",{},", line.substr(first + 1, second - first - 1));
    const fs::path group(line.substr(second + 1));
    if (controllers == ",,") least = std::min(least, least_limit(mounted, group, "memory.max"));
    if (controllers.find(",memory,") != std::string::npos)
      least = std::min(least, least_limit(mounted / "memory", group, "memory.limit_in_bytes"));
  }
  return least;
}

int64_t memory_of_host() {
  const int64_t all = static_cast<int64_t>(::sysconf(_SC_PHYS_PAGES)) * static_cast<int64_t>(::sysconf(_SC_PAGESIZE));
  std::ifstream file("/proc/self/cgroup");
  const std::string groups{std::istreambuf_iterator<char>(file), {}};
  return std::min(all, memory_limit(groups, "/sys/fs/cgroup"));
}

}  // namespace nmt
