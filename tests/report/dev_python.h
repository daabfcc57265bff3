#pragma once

#include <sys/wait.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <string>

#include "support.h"

namespace nmt::test {

/// The python of the development environment (scripts/dev_python.sh); empty where there is none: then GTEST_SKIP().
inline std::string dev_python() {
  if (const char* value = std::getenv("NMT_DEV_PYTHON")) return value;
  const auto python = source_directory() / ".deps/dev/bin/python";
  return std::filesystem::exists(python) ? python.string() : "";
}

/// What a command prints; a test failure where its exit code is not 0.
inline std::string output_of(const std::string& command) {
  std::string output;
  std::FILE* pipe = ::popen(command.c_str(), "r");
  if (!pipe) throw std::runtime_error("cannot run " + command);
  std::array<char, 4096> buffer;
  for (size_t count; (count = std::fread(buffer.data(), 1, buffer.size(), pipe)) > 0;)
    output.append(buffer.data(), count);
  EXPECT_EQ(::pclose(pipe), 0) << command;
  return output;
}

}  // namespace nmt::test
