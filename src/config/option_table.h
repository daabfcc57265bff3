#pragma once

#include <span>
#include <string_view>

#include "config/option.h"

namespace nmt {

struct Section {
  std::string_view name, help;
};

/// In the order in which they are written.
std::span<const Section> sections();
/// Every option, in the order in which they are written; those of a section stand together.
std::span<const Option> options();
/// nullptr where there is none.
const Option* find_option(std::string_view section, std::string_view name);

}  // namespace nmt
