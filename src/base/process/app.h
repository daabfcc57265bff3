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

/// From now on the first SIGINT or SIGTERM only raises a flag, so that state can be saved; a second one kills at once.
/// SIGHUP, of a terminal that is closed, counts as SIGTERM unless it is ignored, and is no first one.
/// SIGPIPE and SIGXFSZ are ignored: a closed pipe or a file over its limit shows as a write error.
void catch_stop_signals();

/// 0, or the signal that asked to stop.
int stop_signal();

/// From now on SIGHUP only raises a flag, so that a server can read its files again.
void catch_hangup();
/// Whether SIGHUP has come since the last call.
bool take_hangup();

/// The exit code of a program that stopped for a signal: 130 (SIGINT) or 143 (SIGTERM); 0 for none.
int exit_code_of(int signal);
inline int stop_exit_code() { return exit_code_of(stop_signal()); }

}  // namespace nmt
