#pragma once

#include <string>
#include <string_view>

namespace nmt {

// Parts of report.html, built in by CMake.

const std::string& report_style();   ///< src/report/html/page.css
const std::string& report_script();  ///< src/report/html/page.js: what the page can do without

/// A whole page that needs nothing beside it: head with the style and a policy that lets nothing be loaded, `body`, and
/// the script behind it. title: plain text.
std::string html_page(std::string_view title, std::string_view body);

}  // namespace nmt
