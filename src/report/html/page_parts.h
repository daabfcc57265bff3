#pragma once

#include <string>

namespace nmt {

// Of report.html, built in by CMake.

const std::string& report_style();   ///< src/report/html/page.css
const std::string& report_script();  ///< src/report/html/page.js: what the page can do without

}  // namespace nmt
