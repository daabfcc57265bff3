#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

namespace nmt {

/// The number that a line of a control group's file holds; nullopt for "max" and what is not understood.
using ReadLimit = std::function<std::optional<int64_t>(std::string_view line)>;

/// The least limit in the files of this name ("cpu.max") of the control group (version 2) of this process and those
/// around it; nullopt where there is none.
std::optional<int64_t> limit_of_control_groups(const std::string& file, const ReadLimit& read);

/// The same of a process whose /proc/self/cgroup says `groups`, where the groups are mounted there.
std::optional<int64_t> limit_of_control_groups(std::string_view groups, const std::filesystem::path& mounted,
                                               const std::string& file, const ReadLimit& read);

/// What processes of this machine may take together, in bytes: all of it, or the least memory.max of the control groups
/// of this process.
int64_t memory_of_host();

}  // namespace nmt
