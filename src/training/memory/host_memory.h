#pragma once

#include <cstdint>
#include <filesystem>
#include <string_view>

namespace nmt {

/// What processes of this machine may take together: all of it, or the least limit of the control groups that this
/// process is in.
int64_t memory_of_host();

/// The least memory limit of the control groups in `groups`, the text of /proc/self/cgroup, and of those that they are
/// in; `mounted` is /sys/fs/cgroup. Where there is none, the greatest number.
int64_t memory_limit(std::string_view groups, const std::filesystem::path& mounted);

}  // namespace nmt
