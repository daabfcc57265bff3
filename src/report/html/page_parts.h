#pragma once

#include <string>
#include <string_view>

#include "report/html/svg_plot.h"
#include "report/records/run_records.h"

namespace nmt {

// Parts of every page, built in by CMake.

const std::string& report_style();   ///< src/report/html/page.css
const std::string& report_script();  ///< src/report/html/page.js: what the page can do without

/// A whole page that needs nothing beside it: head with the style and a policy that lets nothing be loaded, `body`, and
/// the script behind it. title: plain text.
std::string html_page(std::string_view title, std::string_view body);

// What the pages about runs are made of. `text` and `title` are plain, `body` is HTML.

std::string page_section(const std::string& id, const std::string& title, const std::string& body);
std::string page_note(const std::string& text);
std::string page_chart(const Plot& plot);  ///< with title and legend

/// The validation that is marked best last, or null where none is.
const ValidationReport* best_validation(const RunRecords& records);
/// "update 12,000", and for averages of which.
std::string weights_of(const ValidationReport& report);

}  // namespace nmt
