#pragma once

#include <spdlog/spdlog.h>

#include <filesystem>
#include <memory>
#include <string>

namespace nmt {

/// Where programs and long-running library calls tell what they do: handed down, never global.
using Logger = spdlog::logger;

/// A logger to standard error ("12:03:44 message"; warnings and errors say so).
std::shared_ptr<Logger> make_logger(const std::string& name);

/// Adds a file, appended to, flushed at every line: the log.txt of a run directory. Throws MachineError if it can't be
/// opened.
void add_log_file(Logger& logger, const std::filesystem::path& path);

}  // namespace nmt
