#pragma once

#include <exception>
#include <filesystem>
#include <stdexcept>
#include <string>
#include <system_error>

namespace nmt {

/// What the user can fix: a wrong option, file or line. what() is one line: what, where (file:line or option), what to
/// do. Programs end with exit code 2.
class Error : public std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// What the machine failed at: disk full, out of memory, a lost device. what() is one line. Programs end with exit
/// code 1.
class MachineError : public std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// What `error` says, without the stack trace that libraries put behind the first line.
std::string first_line(const std::exception& error);

/// Throws why the system refuses to make a file or folder. Error where its name or permissions are to be changed: a
/// missing right, a name too long, links in a circle, a file in the place of a folder, a place that has no files (below
/// /proc); MachineError for all else.
[[noreturn]] void throw_path_error(const std::string& message, const std::error_code& reason);

/// The same for what std::filesystem throws, where a missing file is one that went away, and a MachineError; where it
/// is an Error, in a line of ours: "PATH: cannot be used (REASON);
/// ...".
[[noreturn]] void throw_path_error(const std::filesystem::filesystem_error& error);

}  // namespace nmt
