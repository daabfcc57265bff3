#include "training/memory/host_memory.h"

#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <string_view>

#include "base/control_groups.h"

namespace nmt {

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
