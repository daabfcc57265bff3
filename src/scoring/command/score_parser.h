#pragma once

#include <string>
#include <vector>

#include "scoring/command/score_options.h"

namespace nmt::scoring {

/// Reads the words of a command line. Throws nmt::Error for an option that there is not, and a value that it cannot
/// have. Looks at SACREBLEU_FORMAT.
ScoreOptions parse_score_options(const std::vector<std::string>& words);

}  // namespace nmt::scoring
