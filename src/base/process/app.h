#pragma once

#include <functional>
#include <string_view>

namespace nmt {

/// Exit codes of every program but nmt-score, which has sacreBLEU's.
enum ExitCode : int { kDone = 0, kMachineFailed = 1, kUserMustChange = 2, kInterrupted = 130, kTerminated = 143 };

/// Runs the body of a program and turns what it throws into one line on standard error and an exit code:
/// nmt::Error 2; nmt::MachineError, std::bad_alloc, std::system_error and anything else 1.
/// A body that stopped early because of SIGINT or SIGTERM returns 130 or 143 itself (see base/signals.h).
/// Standard output is flushed and checked: a full disk behind it is 1, a closed pipe ends quietly with 0.
int run_app(std::string_view name, const std::function<int()>& body);

}  // namespace nmt
