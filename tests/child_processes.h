#pragma once

#include <sys/types.h>

#include <filesystem>
#include <fstream>
#include <vector>

namespace nmt::test {

/// The processes that this one has started and not waited for, of all its threads.
inline std::vector<pid_t> child_processes() {
  std::vector<pid_t> found;
  for (const auto& thread : std::filesystem::directory_iterator("/proc/self/task")) {
    std::ifstream children(thread.path() / "children");
    for (pid_t id = 0; children >> id;) found.push_back(id);
  }
  return found;
}

}  // namespace nmt::test
