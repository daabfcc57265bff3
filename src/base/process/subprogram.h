#pragma once

#include <cstdint>
#include <filesystem>
#include <stdexcept>
#include <string>
#include <vector>

namespace nmt {

/// What a program took.
struct ProgramCost {
  double seconds = 0;
  int64_t peak_memory = 0;  ///< bytes, resident
};

/// A program ended with another exit code than 0. It has said why on standard error.
struct ProgramFailed : std::runtime_error {
  ProgramFailed(const std::string& program, int exit_code)
      : std::runtime_error(program + " failed"), exit_code(exit_code) {}
  int exit_code;
};

/// Runs a program with these arguments and waits for its end; its standard streams are this program's, but for an empty
/// standard input. It is ended with this program, also where that is killed; Ctrl-C is for it alone. Throws
/// ProgramFailed; MachineError where it cannot be started. Call it from the main thread.
ProgramCost run_program(const std::filesystem::path& program, const std::vector<std::string>& arguments);

}  // namespace nmt
