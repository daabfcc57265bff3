#pragma once

#include <string>

#include "base/error.h"

namespace nmt::scoring {

/// sacreBLEU's exit codes.
enum CommandExit : int { kFailed = 1, kBadArguments = 2, kWrongFieldCount = 17 };

/// Ends nmt-score with a message and an exit code of sacreBLEU.
class CommandError : public Error {
 public:
  CommandError(int exit_code, const std::string& message) : Error(message), exit_code_(exit_code) {}
  int exit_code() const { return exit_code_; }

 private:
  int exit_code_;
};

}  // namespace nmt::scoring
