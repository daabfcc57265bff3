#pragma once

#include <string>

namespace nmt {

/// The page to try the service with: src/serving/page/page.html, built in by CMake.
const std::string& page_html();

}  // namespace nmt
