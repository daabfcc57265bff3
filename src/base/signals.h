#pragma once

namespace nmt {

/// From now on the first SIGINT or SIGTERM only raises a flag, so that state can be saved; a second one kills at once.
/// SIGPIPE and SIGXFSZ are ignored: a closed pipe or a file over its limit shows as a write error.
void catch_stop_signals();

/// 0, or the signal that asked to stop.
int stop_signal();

/// The exit code of a program that stopped for it: 130 (SIGINT) or 143 (SIGTERM); 0 if none came.
int stop_exit_code();

}  // namespace nmt
