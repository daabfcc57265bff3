#pragma once

#include <string>

namespace nmt {

/// "; did you mean training.lr?" for a name that no option has, or a hint where to look. `section` may be empty.
std::string suggest_option(const std::string& section, const std::string& name);

/// "; did you mean training?" for a name that no section has.
std::string suggest_section(const std::string& name);

}  // namespace nmt
