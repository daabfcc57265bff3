#pragma once

#include <span>
#include <string>
#include <string_view>

#include "config/option_table.h"

namespace nmt {

/// An option of a translation that is no row of the table of options: a call, a line or a program has it, no model.
struct CallOption {
  std::string_view name;  ///< n_best, or --n-best on a command line
  unsigned used_by;       ///< bits of Work
  /// Without it the result is not what was asked for: it is refused, not only warned of, where it has no effect.
  bool misleads = false;
};

std::span<const CallOption> call_options();

/// What becomes of a harmless option without effect.
enum class Harmless { kWarn, kRefuse };

/// Looks for options without effect among those that are given, by their names or flags; work: bits of Work. Returns
/// one line for a warning, "" where all have an effect. Throws Error for one that misleads; with kRefuse for any.
std::string check_used(std::span<const std::string> given, unsigned work, Harmless harmless);

/// "--beam-size" of "beam_size".
std::string flag_of(std::string_view name);

}  // namespace nmt
