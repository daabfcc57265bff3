#pragma once

#include <string>

#include "base/process/program_description.h"

namespace nmt {

/// What stands in the head and the foot of every page.
struct ManualEdition {
  std::string version;  ///< "0.1.0"
  std::string date;     ///< "2026-11-24"
};

/// The page of a program, section 1, in man(7).
std::string man_page(const ProgramDescription& program, const ManualEdition& edition);

/// nmt(1): the front door, and what there is to read.
std::string front_door_page(const ManualEdition& edition);

/// nmt-config(5): every option of the configuration, from the table of options.
std::string configuration_page(const ManualEdition& edition);

}  // namespace nmt
