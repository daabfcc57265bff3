#pragma once

#include <functional>
#include <string>
#include <vector>

#include "base/process/program_description.h"
#include "scoring/command/score_options.h"

namespace nmt::scoring {

/// An option of nmt-score.
struct ScoreArgument {
  /// How it is written: without a value it is a flag. Those without a group stand neither in the help nor in the
  /// manual.
  OptionDescription shown;
  /// Puts its values (none, one, or several) where they belong. Throws nmt::Error that begins with the name as given.
  std::function<void(const std::string& name, const std::vector<std::string>& values)> store;
};

/// Every option: sacreBLEU's, and those besides. They write to `options`, which has to outlive them.
std::vector<ScoreArgument> score_arguments(ScoreOptions& options);

/// The command line in words; score_help() and the manual page are made of it.
ProgramDescription score_description();

/// What --help prints.
std::string score_help();

}  // namespace nmt::scoring
