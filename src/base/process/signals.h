#pragma once

namespace nmt {

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
