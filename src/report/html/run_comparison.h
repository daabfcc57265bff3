#pragma once

#include <filesystem>
#include <string>

#include "report/records/run_records.h"

namespace nmt {

/// Two runs on one page that needs nothing beside it: their curves over each other, their best validations, the options
/// in which they differ, and, where both translated the same sentences, those whose chrF2 differs most. The names of
/// the runs should differ.
std::string run_comparison(const RunRecords& first, const RunRecords& second);

/// Writes comparison.html into the second run directory; returns its path. Runs of one name are called by their
/// directories. Throws as read_run, and MachineError.
std::filesystem::path write_comparison(const std::filesystem::path& first, const std::filesystem::path& second);

}  // namespace nmt
