#pragma once

#include <string>

#include "report/html/svg_plot.h"
#include "report/records/run_records.h"

namespace nmt {

// What the pages about runs are made of. `text` and `title` are plain, `body` is HTML.

std::string page_section(const std::string& id, const std::string& title, const std::string& body);
std::string page_note(const std::string& text);
std::string page_chart(const Plot& plot);  ///< with title and legend

/// The validation that is marked best last, or null where none is.
const ValidationReport* best_validation(const RunRecords& records);
/// "update 12,000", and for averages of which.
std::string weights_of(const ValidationReport& report);

}  // namespace nmt
