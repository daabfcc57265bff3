#pragma once

#include <span>
#include <string>

#include "report/records/run_records.h"

namespace nmt {

/// Lines of text, a row for each run: its name and the figures of its best validation; with several, below them the
/// mean and the sample standard deviation of each column. A run without a best validation has no figures, a column
/// without figures in one of the runs has no mean. Ends with a line end.
std::string run_table(std::span<const RunRecords> runs);

}  // namespace nmt
