#pragma once

#include <iosfwd>
#include <string>
#include <vector>

namespace nmt::scoring {

/// sacreBLEU's exit codes.
enum ScoreExit : int { kScored = 0, kFailed = 1, kBadArguments = 2, kWrongFieldCount = 17 };

/// What nmt-score does: writes scores to `out`, messages to `messages`; returns sacreBLEU's exit code.
/// colors: `out` is a terminal. Throws what is no fault of the user (nmt::MachineError, std::bad_alloc).
struct CommandStreams {
  std::ostream& out;
  std::ostream& messages;
  bool colors = false;
};
int run_score_command(const std::vector<std::string>& arguments, const CommandStreams& streams);

}  // namespace nmt::scoring
